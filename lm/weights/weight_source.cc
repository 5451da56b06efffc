#include "lm/weights/weight_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"
#include "common/hash.h"

namespace agentr {

WeightsInMemory::WeightsInMemory(std::string name, std::map<std::string, Weight> weights)
    : name_(std::move(name)), weights_(std::move(weights)) {
  for (const auto& [tensor, weight] : weights_) {
    auto bytes = static_cast<int64_t>(Bytes(weight.type));
    for (const int64_t n : weight.shape) bytes *= n;
    if (std::ssize(weight.data) == bytes) continue;
    throw FatalError(
        ExitCode::kFile,
        fmt::format("{}: tensor {} of type {} and shape [{}] needs {} bytes, but has {}", name_,
                    tensor, Name(weight.type), fmt::join(weight.shape, ", "), bytes,
                    weight.data.size()));
  }
}

std::string DescribeWeights(const WeightSource& source) {
  constexpr size_t kBeginning = 4096;
  std::string text;
  for (const auto& [name, weight] : source.weights()) {
    const auto* data = reinterpret_cast<const char*>(weight.data.data());
    const std::string_view beginning(data, std::min(weight.data.size(), kBeginning));
    text += fmt::format("{} {} {} {}\n", name, Name(weight.type), fmt::join(weight.shape, ","),
                        Sha256(beginning));
  }
  return text;
}

}  // namespace agentr
