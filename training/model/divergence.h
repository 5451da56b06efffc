// The one rule for a training that diverges: numbers that are infinite or no numbers at all end the
// run, because nothing that is computed from them is of any use. Trainer::Update looks at every
// step, and checkpoints, exports and what plays look again at what they are given; so a good
// checkpoint is never replaced by a bad one, and nothing bad is exported.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "training/parameter.h"

namespace agentr {

// How many of `values`, of any floating type and on any device, are not finite.
int64_t CountNotFinite(const at::Tensor& values);

// Such as "3 of the 4096 values of lm_head.weight are not finite, like some of others"; empty if
// all are finite.
std::string DescribeNotFinite(const std::vector<Parameter>& parameters);

// Ends a run with the exit code kIncomplete.
class DivergedError : public FatalError {
  using FatalError::FatalError;
};

// Throws DivergedError with `what`, a sentence without its full stop, and the usual cure. `rate`:
// the option of the learning rate that is too high.
[[noreturn]] void EndDiverged(const std::string& what, std::string_view rate = "--lr");

// Calls EndDiverged if any of them is not finite; `what`: "the scores of the actions".
void RequireFinite(const at::Tensor& values, std::string_view what, std::string_view rate = "--lr");

}  // namespace agentr
