#include "training/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, ScheduleOptions& o) {
  set.Group("Learning rate");
  set.Add("--lr", o.learning_rate, "Largest learning rate").Range(0, kMostLearningRate);
  set.Add("--lr_schedule", o.shape, "How the learning rate falls after the warm-up")
      .OneOf({"constant", "linear", "cosine"});
  set.Add("--warmup", o.warmup, "Share of the steps during which the learning rate increases")
      .Range(0, 1);
  set.Add("--lr_least", o.least, "Final learning rate as a share of the largest one").Range(0, 1);
}

double LearningRate(const ScheduleOptions& o, int64_t step, int64_t steps) {
  // At least one step has a rate above 0, also if it is the only one.
  const double warmup =
      std::min(std::ceil(o.warmup * static_cast<double>(steps)), static_cast<double>(steps - 1));
  const auto at = static_cast<double>(step);
  if (at < warmup) return o.learning_rate * at / warmup;
  if (o.shape == "constant") return o.learning_rate;
  const double left = static_cast<double>(steps) - warmup;
  const double share = left > 0 ? (at - warmup) / left : 1;
  const double height =
      o.shape == "linear" ? 1 - share : (1 + std::cos(std::numbers::pi * share)) / 2;
  return o.learning_rate * (o.least + (1 - o.least) * height);
}

}  // namespace agentr
