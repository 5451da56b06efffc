#include "games/lmrl/wordle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/config_lines.h"
#include "common/hash.h"
#include "common/text.h"

namespace agentr {
namespace embedded {
extern const std::string_view kWordleWords;
}  // namespace embedded

namespace {

constexpr size_t kLetters = 5;

std::vector<std::string_view> ReadWords() {
  std::vector<std::string_view> words;
  ConfigLines lines(embedded::kWordleWords, "configs/wordle/words.txt");
  while (lines.Next()) {
    if (lines.line().size() != kLetters) lines.Stop("expected a word of five letters");
    words.push_back(lines.line());
  }
  return words;
}

}  // namespace

const std::vector<std::string_view>& WordleWords() {
  static const std::vector<std::string_view> words = ReadWords();
  return words;
}

std::string WordleMarks(std::string_view guess, std::string_view word) {
  std::string marks;
  for (size_t i = 0; i < kLetters; ++i) {
    marks += guess[i] == word[i] ? 'g' : word.find(guess[i]) != std::string_view::npos ? 'y' : 'b';
  }
  return marks;
}

std::optional<WordleState> Wordle::Start(int64_t seed) const {
  if (seed < 0 || seed >= task_count()) return std::nullopt;
  return WordleState{.random = PythonRandom(static_cast<uint64_t>(seed)),
                     .possible = WordleWords(),
                     .observation = std::string(kWordleBegins)};
}

void Wordle::Step(WordleState& state, std::string_view action) const {
  std::string guess(Trim(action));
  std::erase(guess, ' ');
  ++state.guesses;
  if (std::ranges::find(WordleWords(), guess) == WordleWords().end()) {
    state.observation = kInvalidWord;
    return;
  }
  const std::string_view secret = state.possible[state.random.Below(state.possible.size())];
  const std::string marks = WordleMarks(guess, secret);
  std::erase_if(state.possible,
                [&](std::string_view word) { return WordleMarks(guess, word) != marks; });
  state.observation = fmt::format("{}\n", fmt::join(marks, " "));
  state.won = guess == secret;
  state.reward = state.score = state.won ? 1 : 0;
}

std::vector<std::string_view> Wordle::Listed(const WordleState* state) const {
  return state == nullptr ? WordleWords() : state->possible;
}

std::string Wordle::DataHash() const {
  return Sha256(fmt::format("{}", fmt::join(WordleWords(), "\n")));
}

}  // namespace agentr
