// The device on which a model is trained.
#pragma once

#include <ATen/ATen.h>

#include <string>

namespace agentr {

// The device of this name, cpu, cuda or cuda:N; cuda is the one with the number `local_rank`. Throws
// FatalError(kUsage) if this LibTorch or machine does not have it.
at::Device TrainingDevice(const std::string& name, int local_rank);

}  // namespace agentr
