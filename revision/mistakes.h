// The mistakes that a search tree shows, by state.
//
// A mistake is a step out of a state from which the search went on to success, and that step is
//   - an action that the environment refused in that state, or
//   - a taken action below which nothing as good was found, although the search looked: at least
//     `min_evidence` episodes ended there (those that the depth limit cut only count where they had
//     more turns than a good path needs from there), nothing as good was found from the same state
//     of the task (TaskFamily::StateKey) elsewhere in the tree either, and of the episodes that
//     ended behind the other actions at least the share `min_success` came as far. Where most of
//     those fail too, the search says more about the policy than about the step.
// The end of an episode (a purchase, a disaster, the cut at the depth limit) is never one: nothing
// can be repaired after it. Neither is the action that the good path takes itself, by construction:
// the same action in the same state leads to the same state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/random.h"
#include "revision/choice.h"
#include "revision/first_error.h"
#include "revision/pairing.h"
#include "revision/states.h"

namespace agentr {

enum class Notice { kFirst, kLate, kMixed };

// "first" | "late" | "mixed"; throws FatalError(kUsage) for others.
Notice ParseNotice(std::string_view name);

struct MistakeOptions {
  QualityThresholds choice;
  Pairing pairing = Pairing::kSiblings;
  int min_evidence = 3;
  double min_success = 0.5;
  Notice notice = Notice::kFirst;
  int notice_steps = 3;  // most further bad steps before the agent notices
};

struct Mistake {
  int node = -1;     // the mistaken step
  std::string name;  // TaskFamily::MistakeName
  bool refused = false;
  int evidence = 0;             // ended leaves behind it, none of them as good
  std::vector<LeafPath> goods;  // the good paths that it can be repaired with, each state once
};

// In the order of the nodes; those with the same action in the same state once.
std::vector<Mistake> FindMistakes(const Tree& tree, const StateMap& states,
                                  const TaskFamily& family, const MistakeOptions& options);

// What the family calls the mistake of taking the step to `node`.
std::string MistakeNameOf(const Tree& tree, const TaskFamily& family, int node);

// A mistake and a good path to repair it with: what a row is made of.
struct Draft {
  PathPair pair;
  FirstError error;
  bool refused = false;
  int evidence = 0;
  int error_node = -1;

  bool operator==(const Draft&) const = default;
};

Draft DraftOf(const Tree& tree, const StateMap& states, const Mistake& mistake,
              const LeafPath& good, const MistakeOptions& options, RandomStream random);

// Hands out mistakes with good paths, for balance: each mistake once before any twice (a dead end
// up to three times before a refusal twice), dead ends before refusals, then the kind of mistake,
// the position and the way on that were kept least often. Ties are broken by `random`.
class MistakeChooser {
 public:
  MistakeChooser(const StateMap& states, const std::vector<Mistake>& mistakes, RandomStream random);

  struct Choice {
    size_t mistake = 0;
    size_t good = 0;  // of Mistake::goods
  };

  // Nothing when every mistake was tried with every good path.
  std::optional<Choice> Next();
  // The choice became a row.
  void Keep(const Choice& choice);
  // The choice could not be made to work; a mistake that never did is given up after a few.
  void Fail(const Choice& choice);

 private:
  struct Uses {
    int rows = 0;
    int failures = 0;
    std::vector<size_t> left;  // of Mistake::goods, in random order
  };

  const StateMap& states_;
  const std::vector<Mistake>& mistakes_;
  std::vector<size_t> order_;
  std::vector<Uses> uses_;              // by mistake
  std::map<std::string, int> rows_of_;  // by name of the mistake
  std::map<int, int> rows_at_;          // by depth of the state
  std::map<int, int> rows_with_;        // by good leaf
};

}  // namespace agentr
