#include "training/model/weight_snapshot.h"

#include <fmt/format.h>

#include <utility>

#include "training/model/divergence.h"

namespace agentr {

WeightSnapshot::WeightSnapshot(std::string name, const std::vector<Parameter>& parameters,
                               WeightType type)
    : name_(std::move(name)), type_(type) {
  const at::ScalarType scalar = type == WeightType::kF32 ? at::kFloat : at::kBFloat16;
  for (const Parameter& p : parameters) {
    tensors_.push_back(
        p.value.to(at::kCPU, scalar, /*non_blocking=*/false, /*copy=*/true).contiguous());
    const at::Tensor& data = tensors_.back();
    RequireFinite(data, fmt::format("{}, as {},", p.name, Name(type)));
    weights_[p.name] = {
        type,
        data.sizes().vec(),
        {static_cast<const std::byte*>(data.data_ptr()), static_cast<size_t>(data.nbytes())}};
  }
}

}  // namespace agentr
