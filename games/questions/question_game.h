// The rules of the guessing games with which ArCHer (Zhou et al. 2024) and its offline successor
// train: up to 20 questions, a reward of -1 for each that does not win.
//
// An oracle's text becomes an answer; the history is "Questions:\n" and a line "question answer"
// per turn. All functions are pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace agentr {

constexpr int kMostQuestions = 20;

// The reply to "wait" and to an empty text, which are no questions.
constexpr std::string_view kNoQuestion = "Please ask a question.";

// How the oracle's text becomes an answer.
enum class OracleMapping {
  kContains,  // "yes" anywhere: "Yes."; else "no" anywhere (also in "know"): "No."; else
              // "Invalid Question."
  kExact,     // exactly "yes" or "no", blanks aside; any other text is kept (OfflineArCHer)
};

// The two forms of a test. The reference compares the last word only, so "soccer ball" can never be
// won, and takes a city's name inside another word ("climate" wins Lima). The mended form compares
// whole names.
enum class WinTest { kMended, kReference };

struct QuestionGame {
  std::string history = "Questions:\n";
  int asked = 0;
  bool won = false;

  bool done() const { return won || asked >= kMostQuestions; }
  // The sum of rewards so far: -1 for each question that did not win.
  int Return() const { return won ? 1 - asked : -asked; }

  bool operator==(const QuestionGame&) const = default;
};

std::string MapOracle(std::string_view oracle_text, OracleMapping mapping);

// The oracle said yes, and the question ends with one of the names (lower case).
bool WinsTwentyQuestions(std::string_view question, std::string_view answer,
                         std::span<const std::string> names, WinTest test);

// Names the city ("Lima"), whatever the answer.
bool WinsGuessMyCity(std::string_view question, std::string_view city, WinTest test);

// What the oracle may not say: an answer with the city's name in it becomes a refusal.
std::string GuardCity(std::string_view oracle_text, std::string_view city, WinTest test);

// One turn. Only while !game.done(). Returns its reward: 0 if it wins, else -1.
int Ask(QuestionGame& game, std::string_view question, std::string_view answer, bool wins);

}  // namespace agentr
