#include "training/device.h"

#include <fmt/format.h>

#include <optional>

#include "common/error.h"

namespace agentr {
namespace {

std::optional<at::Device> Parse(const std::string& name) try {
  return at::Device(name);
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace

at::Device TrainingDevice(const std::string& name, int local_rank) {
  const std::optional<at::Device> device = Parse(name);
  if (!device || !(device->is_cpu() || device->is_cuda())) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--device {}: must be cpu, cuda or cuda:N", name));
  }
  if (device->is_cpu()) return *device;
  if (!at::hasCUDA()) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--device {}: this LibTorch, or this machine, has no CUDA. Cure: "
                                 "--device cpu, or a LibTorch with CUDA (CMAKE_PREFIX_PATH) and a "
                                 "GPU",
                                 name));
  }
  const auto present = static_cast<int>(at::detail::getCUDAHooks().getNumGPUs());
  // Slurm may show each process only its own GPU.
  const int by_rank = present == 1 ? 0 : local_rank;
  const int index = device->has_index() ? device->index() : by_rank;
  if (index >= present) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--device {}: process {} of this machine needs GPU {}, but there "
                                 "are {}. Cure: as many --processes as GPUs",
                                 name, local_rank, index, present));
  }
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
}

}  // namespace agentr
