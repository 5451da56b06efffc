// What the algorithms that learn from search trees, or from groups of episodes, train on: the
// responses as token rows, in items that are trained together.
//
//   dpo         an item is a preference: the chosen and the rejected response
//               (revision/make/preferences.h), or one of a file (preference_file.h)
//   awr         an item is one visited response with its advantage (StepAdvantages)
//   tree_grpo   an item is one response with the advantage of its episodes (TreeGroupAdvantages);
//               grpo: the same of recorded episodes, those of a task as one tree (episode_tree.h)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mcts/tree_folder.h"
#include "revision/make/preferences.h"
#include "rl/losses/group_relative.h"
#include "rl/trees/step_advantages.h"
#include "rl/trees/tree_rows.h"

namespace agentr {

class OptionSet;

struct TreeDataOptions {
  TreeInputOptions input;
  std::string episodes;            // a folder of agent_eval with groups of episodes instead (grpo)
  std::vector<std::string> pairs;  // files of preferences instead (dpo; preference_file.h)
  PreferenceOptions preferences;
  int max_pairs_per_task = 0;                     // 0: all
  bool divide_by_std = true;                      // tree_grpo: GrpoOptions::divide_by_std
  Overlong overlong = Overlong::kKeep;            // tree_grpo: GrpoOptions::overlong
  double step_advantage = 0;                      // tree_grpo: weight of TreeStepAdvantages
  double gamma = 0.99;                            // of these
  StepReturn step_return = StepReturn::kEpisode;  // of these
  int max_length = 4096;                          // longer rows are left out
  uint64_t seed = 0;
};

struct TreeDataCounts {
  int64_t trees = 0;
  int64_t nodes = 0;
  int64_t items = 0;
  int64_t no_signal = 0;  // responses left out: never visited, not known, or (tree_grpo) with
                          // advantage 0 or masked
  int64_t too_long = 0;   // items left out because a row is too long
};

enum class TreeAlgorithmKind { kDpo, kAwr, kTreeGrpo };

struct TreeData {
  std::vector<TreeResponse> responses;
  std::vector<std::vector<size_t>> items;  // indices in `responses`; dpo: chosen, rejected
  // Items of one tree that are neighbours in it, so that they share most of their prompts: the
  // first item of each such stretch. They are trained in the same step where possible.
  std::vector<size_t> stretches;
  double temperature = 1;  // at which the trees or episodes were sampled; one of them, if not 1
  TreeDataCounts counts;
  PreferenceCounts preferences;  // dpo only
  std::string hash;              // of everything above, by which a run recognises its data
};

// From the trees of groups of episodes that were just played. Other than for recorded ones, a
// response has the number of episodes through it as its row's weight, those without the sampler's
// probabilities are left out, and there may be nothing to learn from.
TreeData PlayedTreeData(const std::vector<Tree>& trees, const TreeDataOptions& options,
                        const RowTokenizer& text);

// Reads all trees of `options`, except those of test tasks. Throws FatalError: kFile without trees,
// kUsage if nothing can be learned from them.
TreeData ReadTreeData(const TreeDataOptions& options, TreeAlgorithmKind kind,
                      const RowTokenizer& text);

}  // namespace agentr
