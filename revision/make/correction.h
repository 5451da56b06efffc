// What a revision row corrects, as a preference: in one situation the turn that mends, and the
// refused step again. A row alone shows the one and does not say that the other is wrong, and small
// models notice a refusal and then say the same once more
// (docs/results/self_improvement_notes.md, the twenty-first trial).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "revision/make/splice.h"
#include "rows/row_format.h"

namespace agentr {

// The preference of a row whose last bad step was refused, and whose next trained turn takes
// another action; nullopt for other rows. What the chosen turn admits first, the rejected one says
// too, so that the two differ in what follows from it. In the prompt the rejected turn and the
// refusal stand `repeats` more times: who said it again must not say it a third time. A step that
// the agent did not say itself (mcts_collect --slip) is not repeated.
std::optional<RowPreference> CorrectionOf(const Trajectory& trajectory, int repeats);

}  // namespace agentr
