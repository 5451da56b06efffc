// What the actor is asked about a step, and how its answer is read. The wording is a file
// (configs/verifier/<family>.txt): task description, log so far, current action and
// observation; reasons first, then a last line "Judgement: Good|Bad|Uncertain".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "mcts/tree.h"
#include "revision/verifier.h"

namespace agentr {

class JudgementPrompt {
 public:
  // From the text of a prompt file with {task}, {log}, {action} and {observation}. Throws
  // FatalError(kUsage) where it lacks {action} or {observation}.
  explicit JudgementPrompt(std::string_view text);

  // The built-in wording of a family. Throws FatalError(kUsage) for a family without one.
  static JudgementPrompt Of(std::string_view family);

  // The question about the step that led to `node` (not the root), without the oldest
  // `dropped_turns` turns in the log. `evidence` is shown behind the observation.
  std::vector<Message> Query(const Tree& tree, int node, int dropped_turns = 0,
                             const std::string& evidence = "") const;

  const std::vector<Message>& messages() const { return messages_; }  // with the placeholders

 private:
  std::vector<Message> messages_;
};

// The judgement in an answer: the word after the last "Judgement:", in any case and whatever
// punctuation stands around it. Nothing else after the word on its line.
StepJudgement ParseJudgement(std::string_view answer);

}  // namespace agentr
