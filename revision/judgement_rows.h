// Writes rows that teach a model to judge steps (make/step_labels.h) as JSON lines of OpenAI's chat
// format: the question of the verifier actor (find/judgement_prompt.h), and the judgement that the
// search proves. A model that learned them is its own verifier (path_collect --verifier actor).
//
//   {"messages": [{role, content}, …, {role: assistant, content, weight: 1, loss: true}],
//    "provenance": {version, tree, task, model, node, judgement, mistake, evidence, dropped_turns}}
#pragma once

#include <cstdint>
#include <string>

#include "mcts/tree.h"
#include "revision/find/judgement_prompt.h"
#include "revision/make/step_labels.h"
#include "revision/path_collect.h"

namespace agentr {

// One line, with a newline. `file`: the tree's. The oldest turns of the log are left out so that
// the row has at most `max_tokens` (0: any number; EstimateTokens). The same step gives the same
// bytes.
std::string JudgementLine(const Tree& tree, const StepLabel& label, const JudgementPrompt& prompt,
                          int64_t max_tokens, const std::string& file, int task_id);

// The job of path_collect --data_type judgements: writes RowStem.messages.jsonl, .run.json and
// .toml, and prints the counts and the first options.show rows. Nothing is replayed. kInterrupted:
// a signal came first, and nothing is written. Throws FatalError; kUsage if there are more rows
// already and they are not to be overwritten, and for a kind of task without a prompt.
ExitCode CollectJudgements(const PathCollectOptions& options, const OptionSet& resolved,
                           Workbench& workbench);

}  // namespace agentr
