// Step-level preferences from a search tree: of two responses to the same prompt, the one after
// which the search did better.
//
// The children of a node are compared in groups: those that led to the same state by the same step
// count as one, with their visits and values added, because the difference between their averages
// is chance. A group is compared only if its value is reliable: enough visits, or an episode that
// ended there, whose reward is exact. A refused action is never the better one: it left the state
// as it was, so whatever succeeded after it would have succeeded without it. For the same reason a
// refused action needs no visits to be the worse one beside an accepted action behind which some
// episode succeeded. Without these pairs almost all preferences are for the action that ended an
// episode well, because only there one visit is enough, and a small model learns to skip what comes
// before.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/random.h"
#include "common/sum_fields.h"
#include "mcts/tree.h"
#include "revision/find/states.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

struct PreferenceOptions {
  int min_visits = 2;    // of a group, unless an episode ended there
  double margin = 0.1;   // least difference of the values
  bool refusals = true;  // also prefer accepted actions to refused ones that were not visited
  int max_per_node = 0;  // most pairs of one prompt, those with the greatest difference; 0: all
};

// Declares --preference_visits, --preference_margin, --preference_refusals and
// --preferences_per_node.
void Declare(OptionSet& set, PreferenceOptions& options);

// A side of a pair: a node and the numbers of its group.
struct ValuedNode {
  int node = -1;
  double value = 0;  // average reward of the episodes behind it
  int visits = 0;    // their number
};

struct Preference {
  int parent = -1;  // the prompt ends with the observation of this node
  ValuedNode chosen;
  ValuedNode rejected;
};

// What became of the pairs of siblings.
struct PreferenceCounts {
  int64_t trees = 0;
  int64_t siblings = 0;      // pairs of children of one node
  int64_t same_step = 0;     // left out: the same step into the same state
  int64_t other_prompt = 0;  // left out: sampled from prompts with other turns dropped
  int64_t uncertain = 0;     // left out: too few visits of one of them
  int64_t close = 0;         // left out: their values differ by less than the margin
  int64_t refused = 0;       // left out: the environment refused the better action
  int64_t slipped = 0;       // left out: the better one is not what the model said (Node::slip)
  int64_t unclean = 0;       // left out: the better one says several actions, or none
  int64_t repeated = 0;      // left out: another pair of the same two groups is kept
  int64_t over_limit = 0;    // left out: over the largest number per node or task
  int64_t pairs = 0;
};
inline constexpr std::array<SumField<PreferenceCounts>, 12> kPreferenceFields = {
    {{"trees", &PreferenceCounts::trees},
     {"siblings", &PreferenceCounts::siblings},
     {"same_step", &PreferenceCounts::same_step},
     {"other_prompt", &PreferenceCounts::other_prompt},
     {"uncertain", &PreferenceCounts::uncertain},
     {"close", &PreferenceCounts::close},
     {"refused", &PreferenceCounts::refused},
     {"slipped", &PreferenceCounts::slipped},
     {"unclean", &PreferenceCounts::unclean},
     {"repeated", &PreferenceCounts::repeated},
     {"over_limit", &PreferenceCounts::over_limit},
     {"pairs", &PreferenceCounts::pairs}}};
static_assert(NamesEveryField(kPreferenceFields));

// All pairs of the tree, in the order of the prompts and, for one prompt, by decreasing difference.
std::vector<Preference> FindPreferences(const Tree& tree, const StateMap& states,
                                        const TaskFamily& family, const PreferenceOptions& options,
                                        PreferenceCounts& counts);

// At most `most` of them (0: all), drawn at random and left in their order.
std::vector<Preference> LimitPreferences(std::vector<Preference> pairs, int most,
                                         RandomStream random, PreferenceCounts& counts);

}  // namespace agentr
