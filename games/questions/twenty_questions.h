// Twenty Questions as an environment of tasks and texts, with an oracle that answers. Task i is the
// i-th object of configs/questions/objects.txt.
//
// Observations are the answers ("Yes.") after a first "Questions:". As rewards of searches lie in
// [0, 1], the reward of a win is (20 - (questions - 1)) / 20 and everything else gives 0; `score`
// is the return of the paper, -1 for each question that does not win.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"
#include "games/questions/question_game.h"
#include "games/questions/word_table.h"

namespace agentr {

// Answers questions about an object in its own words; "yes" and "no" are looked for in them.
// Thread-safe.
class QuestionOracle {
 public:
  virtual ~QuestionOracle() = default;
  // Part of the environment's hash: other oracles answer differently.
  virtual std::string name() const = 0;
  virtual Result<std::string> Answer(size_t word, std::string_view question) const = 0;
};

struct TwentyQuestionsState {
  size_t word = 0;
  QuestionGame game = {};
  std::string observation = {};
  double reward = 0;  // of the last step
  double score = 0;

  bool done() const { return game.done(); }
  bool operator==(const TwentyQuestionsState&) const = default;
};

// What Twenty Questions and Guess My City have in common.
class GuessingGame {
 public:
  using State = TwentyQuestionsState;

  int64_t task_count() const { return static_cast<int64_t>(table_.words().size()); }
  std::optional<State> Start(int64_t data_idx) const;

  // Asks. "wait" and texts without a letter are no questions and cost nothing. The oracle's error
  // is the step's, and the state stays as it was. Returns the reward of the paper: -1 or 0.
  Result<int> Step(State& state, std::string_view question) const;

  // SHA-256 of the table, the rules and the oracle's name.
  std::string DataHash() const;

 protected:
  // What the built-in oracle says about a word.
  using Answers = std::function<std::string(size_t word, std::string_view question)>;

  struct Judgement {
    std::string answer;  // what the agent is told
    bool wins;
  };
  // Of a question about a word to which the oracle `said` that.
  using Judge = std::function<Judgement(size_t word, std::string_view question,
                                        const std::string& said, WinTest form)>;

  // Without `oracle` the built-in one answers. With `reference`, every text is a question, and an
  // observation is the whole history.
  GuessingGame(const WordTable& table, bool reference, std::unique_ptr<QuestionOracle> oracle,
               Answers built_in, Judge judge);

 private:
  const WordTable& table_;
  bool reference_;
  std::unique_ptr<QuestionOracle> oracle_;
  Judge judge_;
};

class TwentyQuestions : public GuessingGame {
 public:
  static constexpr std::string_view kTask = "twenty_questions";
  static constexpr std::string_view kTitle = "TwentyQuestions";

  // With `reference`, wins are tested by the last word, every text is a question, and an
  // observation is the whole history, as in the original. Without `oracle` the built-in one
  // answers (rule_oracle.h).
  explicit TwentyQuestions(bool reference, std::unique_ptr<QuestionOracle> oracle = nullptr);
};

}  // namespace agentr
