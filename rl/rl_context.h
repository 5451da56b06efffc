// What every algorithm works with: the options, the policy, the world and its transitions, opened
// when they are first asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "rl/agent_rl.h"
#include "rl/policies/actor.h"
#include "rl/policies/listed_policy.h"
#include "rl/policies/policy_model.h"
#include "rl/policies/task_player.h"
#include "rl/policies/written_policy.h"
#include "rl/recorder.h"
#include "rl/transition_store.h"
#include "training/distributed/process_group.h"

namespace agentr {

class RlContext {
 public:
  // `folder`: for the store. `transitions`: how many of the store belong to the checkpoint that is
  // continued; later ones are forgotten. `group`: of the job's processes, all of which have the
  // same world and the same transitions, and divide the work of the networks; null: there is one.
  // `workbench`: as of AgentRl.
  RlContext(const AgentRlOptions& options, std::filesystem::path folder, int64_t transitions,
            ProcessGroup* group = nullptr, Workbench* workbench = nullptr);

  const AgentRlOptions& options() const { return options_; }
  ProcessGroup* group() const { return group_; }  // may be null
  bool writes() const { return IsFirstRank(group_); }
  PolicyModel& policy() { return *policy_; }  // only where there is --model_dir
  TransitionStore& store() { return store_; }
  World& world();
  Recorder& recorder();
  // The transitions that --transitions names; null without. Throws FatalError, for example if they
  // have another tokenizer than the policy.
  const TransitionStore* recorded();

  // The policy as a player of kinds of tasks; only where there is a workbench.
  TaskPlayer& task_player();

  // What was played so far by this process.
  struct Played {
    double seconds = 0;
    int64_t steps = 0;   // of environments
    int64_t tokens = 0;  // that were sampled, of tasks
  };
  Played played() const;
  // Adds episodes of tasks, which are not in the store.
  void AddPlayed(const Played& more);

  // The streams of a part of the run: RandomStream(seed).Split(part).Split(iteration).
  RandomStream Random(std::string_view part, int64_t iteration) const;

  // The policy as a player of the world, with the current weights: on listed actions or freely
  // written ones. `version`: how many optimiser steps the weights have had. Valid until the next
  // call.
  Actor& Player(int64_t version, bool greedy);

  // The policy on freely written actions. With `version`, the current weights are loaded as that
  // version; otherwise it has those of the last time.
  WrittenPolicy& Written(std::optional<int64_t> version);

  // An actor's results in new episodes of the evaluation's own seed; Evaluate: the policy's.
  nlohmann::ordered_json EvaluateActor(int64_t iteration, Actor& actor);
  nlohmann::ordered_json Evaluate(int64_t iteration, int64_t version);

 private:
  const AgentRlOptions& options_;
  ProcessGroup* const group_;
  const std::unique_ptr<PolicyModel> policy_;  // null without --model_dir
  TransitionStore store_;
  std::unique_ptr<TransitionStore> recorded_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<ListedPolicy> listed_;
  std::unique_ptr<WrittenPolicy> written_;
  Workbench* const workbench_;
  std::unique_ptr<TaskPlayer> task_player_;
  Played of_tasks_;
};

}  // namespace agentr
