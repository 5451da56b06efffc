#include "games/questions/question_game.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "games/questions/word_table.h"

namespace agentr {
namespace {

// Lower case, without what follows the last letter.
std::string UpToLastLetter(std::string_view question) {
  while (!question.empty() && !IsAsciiLetter(question.back())) question.remove_suffix(1);
  return AsciiLower(question);
}

// `name` in `text`, both plain: as whole words, or anywhere.
bool Names(std::string_view text, std::string_view name, bool whole) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool alone = (at == 0 || !IsAsciiLetter(text[at - 1])) &&
                       (end == text.size() || !IsAsciiLetter(text[end]));
    if (alone || !whole) return true;
  }
  return false;
}

}  // namespace

std::string MapOracle(std::string_view oracle_text, OracleMapping mapping) {
  if (mapping == OracleMapping::kExact) {
    const std::string_view text = Trim(oracle_text);
    return text == "yes" ? "Yes." : text == "no" ? "No." : std::string(oracle_text);
  }
  const std::string lower = AsciiLower(oracle_text);
  if (lower.find("yes") != std::string::npos) return "Yes.";
  return lower.find("no") != std::string::npos ? "No." : "Invalid Question.";
}

bool WinsTwentyQuestions(std::string_view question, std::string_view answer,
                         std::span<const std::string> names, WinTest test) {
  if (AsciiLower(answer).find("yes") == std::string::npos) return false;
  const std::string asked = UpToLastLetter(question);
  if (test == WinTest::kReference) {
    const std::string last = asked.substr(asked.rfind(' ') + 1);
    return std::ranges::find(names, last) != names.end();
  }
  const std::string plain = PlainQuestion(asked);
  return std::ranges::any_of(names, [&](const std::string& name) {
    return plain.ends_with(name) &&
           (plain.size() == name.size() || plain[plain.size() - name.size() - 1] == ' ');
  });
}

bool WinsGuessMyCity(std::string_view question, std::string_view city, WinTest test) {
  return Names(UpToLastLetter(question), AsciiLower(city), test == WinTest::kMended);
}

std::string GuardCity(std::string_view oracle_text, std::string_view city, WinTest test) {
  const bool leaks = Names(AsciiLower(oracle_text), AsciiLower(city), test == WinTest::kMended);
  return leaks ? "I can't answer that question." : std::string(oracle_text);
}

int Ask(QuestionGame& game, std::string_view question, std::string_view answer, bool wins) {
  ++game.asked;
  game.won = wins;
  game.history += fmt::format("{} {}\n", question, answer);
  return wins ? 0 : -1;
}

}  // namespace agentr
