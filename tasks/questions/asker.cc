#include "tasks/questions/asker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "games/questions/rule_oracle.h"
#include "tasks/action_text.h"
#include "tasks/task_family.h"

namespace agentr {
namespace {

std::string WithArticle(const std::string& name) {
  const bool vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", name);
}

// "Is it a cat or a dog?"
std::string AskNames(const WordTable& table, const std::vector<size_t>& words) {
  std::string text = "Is it ";
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& name = table.words()[words[i]].aliases.front();
    text += (i > 0 ? " or " : "") + (table.articles() ? WithArticle(name) : name);
  }
  return text + "?";
}

std::string AskProperty(const WordTable& table, size_t property) {
  const std::string& phrase = table.properties()[property].phrases.front();
  return fmt::format("Is it {}?", property < table.category_count() ? WithArticle(phrase) : phrase);
}

}  // namespace

AskedSoFar ReadQuestions(const WordTable& table, std::span<const Message> conversation) {
  AskedSoFar so_far;
  for (size_t i = 0; i < table.words().size(); ++i) so_far.possible.set(i);
  std::string question;
  for (const Message& message : conversation) {
    if (message.role == "assistant") {
      question = TextOfAction(message.content);
      continue;
    }
    const bool yes = message.content.starts_with("Yes");
    if (question.empty() || (!yes && !message.content.starts_with("No"))) {
      so_far.wasted_turns += question.empty() ? 0 : 1;
      continue;
    }
    so_far.asked.push_back(PlainQuestion(question));
    const std::optional<WordSet> members = AnswersYes(table, question);
    const WordSet fits =
        !members ? so_far.possible : so_far.possible & (yes ? *members : ~*members);
    so_far.wasted_turns = fits == so_far.possible ? so_far.wasted_turns + 1 : 0;
    // Another oracle may contradict the tables; then its last answers are not believed.
    if (fits.any()) so_far.possible = fits;
    question.clear();
  }
  return so_far;
}

std::string BestQuestion(const WordTable& table, const AskedSoFar& so_far) {
  const auto count = static_cast<int>(so_far.possible.count());
  std::vector<size_t> left;
  for (size_t i = 0; i < table.words().size(); ++i) {
    if (so_far.possible[i]) left.push_back(i);
  }
  // With few left, naming half of them splits best; the one named last is also a guess. Cities are
  // not listed, because each that a question names is a guess.
  const int few = table.articles() ? 6 : 2;
  std::string best;
  int nearest = count;
  if (count <= few) {
    left.resize(static_cast<size_t>(std::max(1, count / 2)));
    return AskNames(table, left);
  }
  for (size_t i = 0; i < table.properties().size(); ++i) {
    const auto yes = static_cast<int>((so_far.possible & table.properties()[i].members).count());
    const int distance = std::abs(2 * yes - count);
    if (yes == 0 || yes == count || distance >= nearest) continue;
    nearest = distance;
    best = AskProperty(table, i);
  }
  if (!best.empty()) return best;
  left.resize(left.size() / 2);
  return AskNames(table, left);
}

std::string AnyQuestion(const WordTable& table, std::span<const size_t> objects,
                        RandomStream& random) {
  if (random.Chance(0.3)) return AskNames(table, {random.Pick(objects)});
  return AskProperty(table, random.Below(table.properties().size()));
}

std::string AnyQuestion(const WordTable& table, RandomStream& random) {
  std::vector<size_t> all(table.words().size());
  std::iota(all.begin(), all.end(), size_t{0});
  return AnyQuestion(table, all, random);
}

}  // namespace agentr
