// Many environments of one kind in this process, stepped together without HTTP: for training from
// reward. Each has its own seeded stream of episodes, so a run is a function of the seeds and the
// actions.
//
//   BabyAiBatch batch({.size = 32, .seed = 100});
//   for (…) {
//     // batch.Goal(i), batch.Observation(i) -> actions[i], one of batch.actions()
//     for (const BatchStep& step : batch.Step(actions)) …
//   }
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace agentr {

// What one action led to. The observation is valid until the next Step.
struct BatchStep {
  std::string_view observation;  // after the action, also if it ended the episode
  double reward = 0;             // of this step
  bool done = false;             // the episode ended: solved, or out of steps
  bool truncated = false;        // it ended because it was out of steps
};

// Not thread-safe; several objects may be used by several threads.
class BatchEnvironment {
 public:
  virtual ~BatchEnvironment() = default;

  virtual size_t size() const = 0;

  // The texts that are actions in every state; empty if any text is one.
  virtual std::span<const std::string_view> actions() const = 0;

  // The goal of the episode that slot `slot` is in, and what is seen now. A slot whose episode has
  // ended is already in its next one.
  virtual std::string_view Goal(size_t slot) const = 0;
  virtual std::string_view Observation(size_t slot) const = 0;

  // Takes actions[i] in slot i; `actions` has size() texts. A text that is no action costs no step:
  // its observation is empty and its reward 0. Valid until the next call.
  virtual std::span<const BatchStep> Step(std::span<const std::string_view> actions) = 0;
};

}  // namespace agentr
