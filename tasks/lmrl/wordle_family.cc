#include "tasks/lmrl/wordle_family.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "common/text.h"
#include "tasks/action_text.h"

namespace agentr {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 4> kGuessReasons = {
    "{} words still fit the marks, and this one tells them apart well.",
    "Of the {} words that are possible I take this one.",
    "The marks leave {}, so I guess one of them.",
    "With {} words left, this is the best guess.",
};

std::string Spaced(std::string_view word) { return fmt::format("{}", fmt::join(word, " ")); }

std::string WithoutBlanks(std::string_view text) {
  std::string plain(Trim(text));
  std::erase(plain, ' ');
  return plain;
}

bool IsWord(std::string_view guess) { return std::ranges::count(WordleWords(), guess) > 0; }

std::string BestGuess(const Words& possible) {
  size_t fewest = 0;
  std::string_view best;
  for (const std::string_view guess : possible) {
    std::map<std::string, size_t> groups;
    for (const std::string_view word : possible) ++groups[WordleMarks(guess, word)];
    size_t left = 0;
    for (const auto& [marks, count] : groups) left += count * count;
    if (!best.empty() && left >= fewest) continue;
    best = guess;
    fewest = left;
  }
  return Spaced(best);
}

class WordlePolicyState : public PolicyState {
 public:
  WordlePolicyState(Words possible, int wasted_turns)
      : possible_(std::move(possible)), wasted_turns_(wasted_turns) {}

  int wasted_turns() const override { return wasted_turns_; }
  std::string Plan() override { return BestGuess(possible_); }
  // Any word, now and then one that is not in the list.
  std::string AnyAction(RandomStream& random) const override {
    std::string word(random.Pick(WordleWords()));
    if (random.Chance(0.1)) std::ranges::reverse(word);
    return Spaced(word);
  }
  std::string Thought(std::string_view /*action*/, RandomStream& random) const override {
    return AnyThought(kGuessReasons, random, possible_.size());
  }

 private:
  const Words possible_;
  const int wasted_turns_;
};

}  // namespace

std::string WordleFamily::ParseAction(std::string_view response) const {
  return AsciiLower(TaskFamily::ParseAction(response));
}

bool WordleFamily::IsRefusal(std::string_view /*before*/, std::string_view /*action*/,
                             std::string_view after) const {
  return after == kInvalidWord;
}

HttpDialect WordleDialect() {
  HttpDialect dialect;
  dialect.name = "wordle";
  dialect.create = {"/wordle/create", nullptr};
  dialect.reset = {"/wordle/reset", {{"id", "{id}"}, {"seed", "{task}"}}};
  dialect.step.path = "/wordle/step";
  dialect.observe = "/wordle/observation?id={id}";
  dialect.close.path = "/wordle/close";
  dialect.expand = "/wordle/expand";
  dialect.tasks = Wordle().task_count();
  return dialect;
}

std::unique_ptr<PolicyState> ReadWordlePolicy(std::span<const Message> conversation) {
  const auto first = std::ranges::find_if(conversation, [](const Message& message) {
    return message.role == "user" && message.content.starts_with(kWordleBegins);
  });
  if (first == conversation.end()) return nullptr;
  Words possible = WordleWords();
  std::string guess;
  int wasted_turns = 0;
  for (const Message& message : std::span(first + 1, conversation.end())) {
    if (message.role == "assistant") {
      guess = AsciiLower(WithoutBlanks(TextOfAction(message.content)));
      continue;
    }
    const std::string marks = WithoutBlanks(message.content);
    Words fit;
    if (IsWord(guess)) {
      std::ranges::copy_if(possible, std::back_inserter(fit), [&](std::string_view word) {
        return WordleMarks(guess, word) == marks;
      });
    }
    // Nothing fits after a refusal, or the server has other words.
    wasted_turns = fit.empty() || fit.size() == possible.size() ? wasted_turns + 1 : 0;
    if (!fit.empty()) possible = std::move(fit);
  }
  return std::make_unique<WordlePolicyState>(std::move(possible), wasted_turns);
}

std::vector<std::string> Gold(const Wordle& game, int64_t seed) {
  std::vector<std::string> guesses;
  std::optional<WordleState> state = game.Start(seed);
  while (state && !state->done()) {
    guesses.push_back(BestGuess(state->possible));
    game.Step(*state, guesses.back());
  }
  return guesses;
}

}  // namespace agentr
