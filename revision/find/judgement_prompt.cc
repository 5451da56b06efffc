#include "revision/find/judgement_prompt.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <span>

#include "common/error.h"
#include "common/named_values.h"
#include "common/text.h"
#include "tasks/prompt_file.h"
#include "tasks/splits.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace embedded {
extern const std::span<const NamedValue<std::string_view>> kVerifierPrompts;
}

namespace {

using Values = std::map<std::string_view, std::string>;

// Replaces all placeholders in one pass, so that "{log}" in an observation is not replaced.
std::string Fill(std::string_view pattern, const Values& values) {
  std::string text;
  while (!pattern.empty()) {
    const size_t open = pattern.find('{');
    text += pattern.substr(0, open);
    if (open == std::string_view::npos) break;
    pattern.remove_prefix(open);
    const size_t close = pattern.find('}');
    const auto value =
        close == std::string_view::npos ? values.end() : values.find(pattern.substr(0, close + 1));
    if (value == values.end()) {
      text += '{';
      pattern.remove_prefix(1);
    } else {
      text += value->second;
      pattern.remove_prefix(close + 1);
    }
  }
  return text;
}

std::string LogBefore(const Tree& tree, int node, int dropped_turns) {
  const std::vector<int> path = tree.Path(node);
  std::string log;
  for (size_t i = 1 + static_cast<size_t>(dropped_turns); i + 1 < path.size(); ++i) {
    const Node& turn = tree.node(path[i]);
    log += fmt::format("{}Action: {}\nObservation: {}", log.empty() ? "" : "\n", turn.action,
                       turn.observation);
  }
  return log.empty() ? "(nothing)" : log;
}

// The only word of the text; "" if there is none or more than one.
std::string OnlyWord(std::string_view text) {
  std::string word;
  bool ended = false;
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) {
      ended = !word.empty();
    } else if (ended) {
      return "";
    } else {
      word += c;
    }
  }
  return word;
}

}  // namespace

JudgementPrompt::JudgementPrompt(std::string_view text) : messages_(ParsePromptFile(text)) {
  for (const std::string_view needed : {"{action}", "{observation}"}) {
    const bool found = std::ranges::any_of(messages_, [&](const Message& message) {
      return message.content.find(needed) != std::string::npos;
    });
    if (!found) {
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("a verifier prompt must contain the step: {} is missing", needed));
    }
  }
}

JudgementPrompt JudgementPrompt::Of(std::string_view family) {
  if (const auto text = ValueOf(embedded::kVerifierPrompts, WithoutStyle(family))) {
    return JudgementPrompt(*text);
  }
  const TaskKind* kind = FindTaskKind(family);
  if (kind != nullptr && !kind->judge.empty()) return JudgementPrompt(kind->judge);
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("there is no built-in verifier prompt for {}; give a file with --verifier_prompt",
                  family));
}

std::vector<Message> JudgementPrompt::Query(const Tree& tree, int node, int dropped_turns,
                                            const std::string& evidence) const {
  const Values values = {{"{task}", tree.root().observation},
                         {"{log}", LogBefore(tree, node, dropped_turns)},
                         {"{action}", tree.node(node).action},
                         {"{observation}", tree.node(node).observation + evidence}};
  std::vector<Message> messages = messages_;
  for (Message& message : messages) message.content = Fill(message.content, values);
  return messages;
}

StepJudgement ParseJudgement(std::string_view answer) {
  constexpr std::string_view kLabel = "judgement:";
  const std::string lower = AsciiLower(answer);
  StepJudgement judged{Judgement::kUncertain, std::string(answer), false};
  const size_t label = lower.rfind(kLabel);
  if (label == std::string::npos) return judged;
  const size_t begin = label + kLabel.size();
  const std::string word =
      OnlyWord(std::string_view(lower).substr(begin, lower.find('\n', begin) - begin));
  for (const auto& [name, known] : kJudgements) {
    if (word != AsciiLower(name)) continue;
    judged.judgement = known;
    judged.parsed = true;
  }
  return judged;
}

}  // namespace agentr
