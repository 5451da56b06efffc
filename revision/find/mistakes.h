// Finds the mistakes that a search tree shows, by state.
//
// A mistake is a step from a state from which the search reached success by other steps, and it is
// either
//   - an action that the environment refused in that state, or
//   - an accepted action after which nothing as good was found, although at least `min_evidence`
//     episodes ended there. An episode that took the step back first, so that it came to a state
//     equal to one before the step (RevisionHints::StateKey), does not speak for it, however well
//     it ended: a wrong product is wrong although one can go back to the results. Episodes that the
//     depth limit ended only count if they had more turns than a good path needs from there. Two
//     more conditions exclude chance: nothing as good was found from an equal state elsewhere in
//     the tree, and at least the share `min_success` of the episodes that took other actions was as
//     good. If most of those fail too, the search says more about the policy than about the step.
// The step that ends an episode (a purchase, a disaster, the depth limit) is never a mistake,
// because nothing can be repaired after it. The action of the good path itself cannot be one
// either: the same action in the same state leads to the same state.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/named_values.h"
#include "common/random.h"
#include "revision/find/choice.h"
#include "revision/find/first_error.h"
#include "revision/find/pairing.h"
#include "revision/find/states.h"

namespace agentr {

enum class Notice { kFirst, kLate, kMixed };

inline constexpr std::array<NamedValue<Notice>, 3> kNotices = {
    {{"first", Notice::kFirst}, {"late", Notice::kLate}, {"mixed", Notice::kMixed}}};

struct MistakeOptions {
  ValueThresholds choice;
  Pairing pairing = Pairing::kSiblings;
  int min_evidence = 3;
  double min_success = 0.5;
  Notice notice = Notice::kFirst;
  int notice_steps = 3;  // largest number of further bad steps before the agent notices
};

// True for the names of mistakes in the form of an action, such as one that is not on the page. The
// others are decisions: an action that can be taken, or could with other things in hand.
bool IsOfForm(std::string_view mistake);

struct Mistake {
  int node = -1;     // the mistaken step
  std::string name;  // RevisionHints::MistakeName
  bool refused = false;
  int evidence = 0;             // ended leaves after it, none of them as good
  double best = 0;              // the best value of an end after it, unless it was taken back
  std::vector<LeafPath> goods;  // the good paths that can repair it, each state once
};

// The mistakes in the order of the nodes; equal actions in the same state count once.
std::vector<Mistake> FindMistakes(const Tree& tree, const StateMap& states,
                                  const TaskFamily& family, const MistakeOptions& options);

// The family's name for the mistake of the step to `node`.
std::string MistakeNameOf(const Tree& tree, const TaskFamily& family, int node);

// A mistake and a good path that repairs it, from which a row is made.
struct Draft {
  PathPair pair;
  FirstError error;
};

Draft DraftOf(const Tree& tree, const StateMap& states, const Mistake& mistake,
              const LeafPath& good, const MistakeOptions& options, RandomStream random);

// Hands out mistakes with good paths so that rows are balanced: each mistake once before any is
// used twice (but a dead end up to three times before a refusal twice), dead ends before refusals,
// then the kind of mistake, position and good path that were kept least often. `random` breaks
// ties.
class MistakeChooser {
 public:
  MistakeChooser(const StateMap& states, const std::vector<Mistake>& mistakes, RandomStream random);

  struct Choice {
    size_t mistake = 0;
    size_t good = 0;  // of Mistake::goods
  };

  // nullopt when every mistake was tried with every good path. Without `forms`, those of IsOfForm
  // are left out this time.
  std::optional<Choice> Next(bool forms = true);
  // Records that the choice became a row.
  void Keep(const Choice& choice);
  // Records that the choice failed. After a few failures without a row, the mistake is given up.
  void Fail(const Choice& choice);
  // The mistake is not handed out again.
  void GiveUp(const Choice& choice);

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
