// The question to the actor about a step, and the parsing of its answer. The wording is in a file
// (configs/verifier/<family>.txt): the rules, which all questions share (so a prefix cache keeps
// them), then the task, the log so far, and at the end the step itself. The answer gives reasons
// first and then a last line "Judgement: Good|Bad|Uncertain".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "mcts/tree.h"
#include "revision/find/verifier.h"

namespace agentr {

class JudgementPrompt {
 public:
  // Reads the text of a prompt file with {task}, {log}, {action} and {observation}. Throws
  // FatalError(kUsage) if {action} or {observation} is missing.
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

// The judgement in an answer: the word after the last "Judgement:", in upper or lower case and with
// any punctuation around it. No other word may follow on its line.
StepJudgement ParseJudgement(std::string_view answer);

}  // namespace agentr
