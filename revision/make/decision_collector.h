// Collects the decisions of one tree until there are enough rows.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/random.h"
#include "mcts/tree.h"
#include "revision/find/states.h"
#include "revision/make/counts.h"
#include "revision/make/repair.h"
#include "revision/make/task_record.h"
#include "revision/make/thoughts.h"
#include "tasks/task_family.h"

namespace agentr {

// True if the decision gives a row: it was replayed as expected or was not replayed at all; with
// `keep_diverged` also if an observation differed.
bool Keeps(const Decision& decision, bool keep_diverged);

class DecisionCollector {
 public:
  // The objects that it uses; they outlive it.
  struct Context {
    const Tree& tree;
    const StateMap& states;
    const TaskFamily& family;
    const Thoughts& thoughts;
    const RepairOptions& repair;
    int most_rows = 0;      // 0: any number
    double form_share = 1;  // largest share of the rows that correct the form of an action
    bool keep_diverged = false;
    const std::atomic<bool>& stop;
    RevisionCounts& counts;
  };

  // `replayer`: null for no replay; `forks`: true if its environment can fork.
  DecisionCollector(const Context& context, const RandomStream& random, Replayer* replayer,
                    bool forks);

  enum class Outcome {
    kKept,
    kDuplicate,
    kFailed,
    // Failed, although the mistake was no refusal and nothing on the good path looked different:
    // the mistake cost the reward for good, as a wrong focus can, so no other good path will do
    // better.
    kHopeless
  };

  // Repairs and replays `decision`, which comes without the results of that. A draft with the
  // actions of an earlier one is dropped. Fails with kCancelled once `stop` is set, and if a call
  // fails.
  Result<Outcome> Add(Decision decision);

  bool Full() const { return context_.most_rows > 0 && kept_ >= context_.most_rows; }

  // True if one more row of a mistake of form (IsOfForm) keeps within the share.
  bool AllowsForm() const;

  // The node of the good path whose action first had another result in the replay of the draft that
  // was added last; -1 if there is none.
  int broken_at() const { return broken_at_; }

  std::vector<Decision> Take() && { return std::move(decisions_); }

 private:
  std::string ThoughtFor(const Decision& decision, RandomStream& random) const;
  bool Contradicts(const Trajectory& trajectory, int error) const;

  const Context context_;
  const RandomStream random_;
  Repairer repairer_;
  std::vector<Decision> decisions_;
  std::set<std::string> actions_;  // ActionsHash of the drafts so far
  int kept_ = 0;
  int forms_ = 0;  // of those kept, the ones that correct a form
  int broken_at_ = -1;
};

}  // namespace agentr
