// Monte Carlo tree search of one task (Agent-R, arXiv 2501.11425, section 3).
//
// One iteration starts at the root and repeats two steps until it reaches a terminal node: it
// expands the node if it has no children, and descends by the selection score to a node without
// children. There is no rollout policy: the descent itself continues to the end of an episode, and
// all its nodes stay in the tree.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "clients/environment.h"
#include "clients/language_model.h"
#include "common/random.h"
#include "mcts/tree.h"
#include "rollout/cut_turns.h"
#include "rollout/executor.h"
#include "rollout/first_responses.h"
#include "rollout/prompt_truncation.h"
#include "rollout/run_options.h"
#include "rollout/slips.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

struct SearchOptions : SamplingOptions {
  int iterations = 8;
  int max_depth = 0;  // turns after which a path ends with its present reward; 0: chosen by the
                      // task (TaskFamily::SearchDepth)
  int n_gen = 4;      // responses sampled per expansion
  double exploration = 0.25;  // weight of exploration in the selection score
  bool snap_actions = false;  // SciWorld: take the nearest valid action instead (sciworld_snap.h)
  SlipOptions slips = {};     // random or refused, shown as done
};

void Declare(OptionSet& set, SearchOptions& options);

// The options as a JSON object, for tree files.
std::string ToJson(const SearchOptions& options);

// Runs once, on one thread at a time.
class Search {
 public:
  // The objects that the search uses; all of them outlive it.
  struct Context {
    const TaskFamily& family;
    LanguageModel& model;
    Executor& executor;
    const std::atomic<bool>& stop;                      // set: end with kCancelled
    std::function<void(int nodes)> on_nodes = nullptr;  // called after each expansion
    FirstResponses* first_responses = nullptr;
    CutTurns* cut_turns = nullptr;
  };

  Search(const SearchOptions& options, TreeOrigin origin, Context context);

  // Returns the finished tree, or the first error from which it could not recover.
  Result<Tree> Run();

  const Usage& usage() const { return usage_; }

  // The nodes that the tree had when the first episode with TaskFamily::SuccessReward ended in it,
  // with the siblings of its end; 0: none did. It measures how fast a search finds a success.
  int nodes_to_success() const { return nodes_to_success_; }

 private:
  Result<void> Iterate();
  Result<void> Expand(int node);
  // Samples n_gen responses to the conversation that ends in `node` and removes duplicates and cut
  // turns. kRejected if all responses to the root were cut.
  Result<std::vector<Node>> Sample(int node);
  Result<TruncatedCompletion> Complete(int node);
  // What the model is shown at `node`, and the ids that it sampled.
  std::vector<Message> History(int node, int dropped_turns) const;
  std::vector<std::span<const int32_t>> SampledIds(int node, int dropped_turns) const;
  std::vector<std::string> Taken(int node) const;  // the actions on the way to it
  Result<void> Snap(int node, std::vector<Node>& children);
  // Adds slips (SearchOptions::slips): beside a response another one that has its thought and does
  // something else. Such a mistake is one that the policy would not make, and what it would do
  // instead is its sibling, so that the search goes on from both.
  Result<void> AddSlips(int node, std::vector<Node>& children);
  Result<void> Execute(int node, std::vector<Node>& children);
  void Record(int node, std::vector<Node> children);
  int Descend(int node);

  const SearchOptions options_;
  const TreeOrigin origin_;
  const Context context_;
  const RandomStream random_;
  RandomStream selection_;
  const int max_depth_;

  Tree tree_;
  std::vector<int> state_of_;  // by node: its environment state
  Usage usage_;
  int nodes_to_success_ = 0;
};

}  // namespace agentr
