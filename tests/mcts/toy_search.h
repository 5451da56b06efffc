// Whole searches and executions in the toy world, and what must hold for their results.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "mcts/search.h"
#include "mcts/tree.h"
#include "rollout/executor.h"
#include "rollout/session_pool.h"
#include "tests/mcts/toy_environment.h"
#include "tests/mcts/toy_model.h"

namespace agentr {

// A mixture of everything that the toy world knows.
std::vector<std::string> ToyActions();

// A search with everything around it. Change the fields before Run.
struct ToySearch {
  explicit ToySearch(bool forks = false, int session_limit = 64)
      : world(forks), pool(world, session_limit) {
    options.max_depth = 6;
    options.n_gen = 3;
  }

  Result<Tree> Run(int task_id = 1);
  // Run, for searches that must succeed.
  Tree MustRun(int task_id = 1);

  ToyFamily family;
  ToyEnvironment world;
  ToyModel model{ToyActions()};
  SessionPool pool;
  std::atomic<bool> stop = false;
  SearchOptions options;
  // Of the last Run.
  Usage usage;
  ExecutionStats stats;
  int64_t nodes_told = 0;
  CutTurns cut_turns;  // of all Runs
  int nodes_to_success = 0;
};

// The model answers every prompt with these actions.
void AlwaysReply(ToySearch& search, const std::vector<std::string>& actions);

// A turn for trees made by hand.
Node Turn(const std::string& action, const std::string& observation, double reward = 0,
          End end = End::kNone);

// Checks visits, values and `terminal` of every node against the ended leaves below it.
void ExpectCountersFollowFromLeaves(const Tree& tree);

// Every known outcome of `actions` in every state, as text that does not depend on the order of
// execution.
std::string Describe(const StateTree& states, const std::vector<std::string>& actions);

// Executes seeded expansions of leaf states: what a search asks of an executor. Stops at an error.
Result<void> RandomExecution(Executor& executor, const std::vector<std::string>& actions,
                             uint64_t seed, int expansions);
}  // namespace agentr
