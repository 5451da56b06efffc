// The policy on freely written actions: sampled by the engine with the weights of the moment, at
// temperature 1 from the whole distribution, up to the end of the line.
//
// The reference samples from the 50 most probable tokens, without saying so, and scores with the
// whole distribution; here both are the whole distribution.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lm/decoder/decoder.h"
#include "lm/engine/engine.h"
#include "rl/policies/actor.h"
#include "rl/policies/policy_model.h"
#include "training/distributed/process_group.h"

namespace agentr {

class WrittenPolicy : public Actor {
 public:
  // `policy` outlives it. `group`: of the job's processes, which divide the prompts; null: there is
  // one.
  WrittenPolicy(PolicyModel& policy, int max_new_tokens, int threads, ProcessGroup* group);

  // From now on it samples with the policy's current weights. `version` grows with each change.
  void Load(int64_t version);

  std::vector<Choice> Act(const World& world, std::span<const std::vector<int32_t>> prompts,
                          const RandomStream& random) override;
  int64_t weights_version() const override { return version_; }
  void set_greedy(bool greedy) { greedy_ = greedy; }

  // `count` actions for each prompt: [prompts][count]. Ends the run if the logits are not finite
  // (EndDiverged). Throws FatalError(kInternal) if the engine fails otherwise, because every prompt
  // fits.
  std::vector<std::vector<Choice>> Sample(std::span<const std::vector<int32_t>> prompts, int count,
                                          const RandomStream& random);

 private:
  std::vector<std::vector<Choice>> SampleOwn(std::span<const std::vector<int32_t>> prompts,
                                             size_t begin, size_t end, int count,
                                             const RandomStream& random);

  PolicyModel& policy_;
  const int max_new_tokens_;
  ProcessGroup* const group_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Engine> engine_;
  int64_t version_ = 0;
  bool greedy_ = false;
};

}  // namespace agentr
