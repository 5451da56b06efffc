#include "rl/worlds/world.h"

#include <fmt/format.h>

#include <vector>

#include "clients/language_model.h"
#include "common/options.h"
#include "games/game_batch.h"
#include "games/questions/city_table.h"
#include "games/questions/word_table.h"
#include "rl/worlds/babyai_world.h"
#include "rl/worlds/echo_batch.h"
#include "tasks/questions/asker.h"
#include "tasks/webshop/archer_policy.h"

namespace agentr {
namespace {

// A world whose observations are whole histories, which are the prompts.
template <typename Batch>
class HistoryWorld : public World {
 public:
  // `make` returns the batch, which may be neither copied nor moved.
  template <typename Make>
  explicit HistoryWorld(const Make& make) : batch_(make()) {}

  std::string Prompt(size_t slot) const override { return std::string(batch_.Observation(slot)); }
  std::span<const BatchStep> Step(std::span<const std::string_view> actions) override {
    return batch_.Step(actions);
  }

  const BatchEnvironment& environment() const override { return batch_; }

 protected:
  Batch batch_;
};

class EchoWorld : public HistoryWorld<EchoBatch> {
 public:
  using HistoryWorld::HistoryWorld;
  std::string Prompt(size_t slot) const override { return HistoryWorld::Prompt(slot) + " "; }
  std::string Expert(size_t slot) const override { return std::string(batch_.right(slot)); }
  std::string AnyAction(size_t /*slot*/, RandomStream& random) const override {
    return std::string(random.Pick(batch_.legal()));
  }
};

// "Questions:\n" and lines of a question with its answer, as a conversation.
std::vector<Message> ConversationOf(std::string_view history) {
  std::vector<Message> conversation;
  size_t at = history.find('\n');
  while (at != std::string_view::npos && at + 1 < history.size()) {
    const size_t end = history.find('\n', at + 1);
    const std::string_view line = history.substr(at + 1, end - at - 1);
    const size_t question = line.find_last_of("?");
    const size_t border = question == std::string_view::npos ? line.rfind(' ') : question + 1;
    if (border != std::string_view::npos) {
      conversation.push_back({"assistant", "Action: " + std::string(line.substr(0, border))});
      const std::string_view answer = line.substr(std::min(border + 1, line.size()));
      conversation.push_back({"user", std::string(answer)});
    }
    at = end;
  }
  return conversation;
}

// Twenty Questions or Guess My City. `words`: its objects with their properties.
template <typename Game>
class QuestionsWorld : public HistoryWorld<GameBatch<Game>> {
 public:
  template <typename Make>
  QuestionsWorld(const Make& make, const WordTable& words, const GameBatchOptions& options)
      : HistoryWorld<GameBatch<Game>>(make), words_(words) {
    const int64_t all = this->batch_.game().task_count();
    const int64_t tasks = options.tasks > 0 ? options.tasks : all;
    for (int64_t i = 0; i < tasks; ++i) {
      objects_.push_back(static_cast<size_t>(options.first_task + options.stride * i));
    }
  }

  // The environment takes a text without words for no question, which costs nothing. For a policy
  // that learns from reward, silence would then be the best it can do and games would not end; here
  // it is a question that nobody understands.
  std::span<const BatchStep> Step(std::span<const std::string_view> actions) override {
    std::vector<std::string_view> questions(actions.begin(), actions.end());
    for (std::string_view& question : questions) {
      if (question == "wait" || PlainQuestion(question).empty()) question = "Hm?";
    }
    return this->batch_.Step(questions);
  }

  std::string Expert(size_t slot) const override {
    AskedSoFar so_far = ReadQuestions(words_, ConversationOf(this->Prompt(slot)));
    WordSet known;
    for (const size_t object : objects_) known.set(object);
    if ((so_far.possible & known).any()) so_far.possible &= known;
    return BestQuestion(words_, so_far);
  }
  std::string AnyAction(size_t /*slot*/, RandomStream& random) const override {
    return AnyQuestion(words_, objects_, random);
  }

 private:
  const WordTable& words_;
  std::vector<size_t> objects_;  // that are drawn
};

class WebShopWorld : public HistoryWorld<GameBatch<ArcherShop>> {
 public:
  using HistoryWorld::HistoryWorld;

  // Any purchase ends the session; the full reward is for what the instruction asks for.
  bool Won(const BatchStep& end) const override { return end.reward > 1 - 1e-9; }

  std::string Expert(size_t slot) const override { return Read(slot)->Plan(); }

  std::string AnyAction(size_t slot, RandomStream& random) const override {
    const std::vector<std::string> clickables = batch_.game().Clickables(batch_.state(slot));
    if (clickables.empty()) return Read(slot)->AnyAction(random);  // a search on the start page
    return fmt::format("click[{}]", random.Pick(clickables));
  }

 private:
  std::unique_ptr<PolicyState> Read(size_t slot) const {
    return ReadArcherPolicy(std::vector<Message>{{"user", Prompt(slot)}});
  }
};

}  // namespace

void Declare(OptionSet& set, WorldOptions& o) {
  set.Add("--environments", o.environments, "Environments that are stepped together").Min(1);
  set.Add("--level", o.level, "Level of BabyAI-Text");
  set.Add("--mission", o.mission,
          "Kind of mission of BabyAI-Text (goto, pickup, open, putnext, seq); empty: the level's "
          "kinds take turns");
  set.Add("--distractors", o.distractors,
          "Objects that lie about in a room of BabyAI-Text (2 to 9); 0: as many as the level has");
  set.Add("--subset", o.subset, "Draw only the ten objects of ArCHer's subset of Twenty Questions");
  set.Add("--reward_scale", o.reward_scale, "Factor of all rewards").Range(-1e15, 1e15);
  set.Add("--reference", o.reference,
          "Texts and rules of the environments as in the originals, with their oddities");
}

std::unique_ptr<World> MakeWorld(const WorldOptions& o, uint64_t seed) {
  const auto size = static_cast<size_t>(o.environments);
  switch (o.task) {
    case WorldKind::kBabyAi:
      return std::make_unique<BabyAiWorldBatch>(BabyAiBatchOptions{.size = size,
                                                                   .level = o.level,
                                                                   .task = o.mission,
                                                                   .distractors = o.distractors,
                                                                   .seed = seed,
                                                                   .reference = o.reference});
    case WorldKind::kTwentyQuestions: {
      const auto options = o.subset ? TwentyQuestionsSubset(size, seed)
                                    : GameBatchOptions{.size = size, .seed = seed};
      return std::make_unique<QuestionsWorld<TwentyQuestions>>(
          [&] { return TwentyQuestionsBatch(options, o.reference); }, WordTable::BuiltIn(),
          options);
    }
    case WorldKind::kGuessMyCity: {
      const GameBatchOptions options{.size = size, .seed = seed};
      return std::make_unique<QuestionsWorld<GuessMyCity>>(
          [&] { return GuessMyCityBatch(options, o.reference); }, CityTable::BuiltIn().words(),
          options);
    }
    case WorldKind::kWebShop:
      return std::make_unique<WebShopWorld>(
          [&] { return ArcherShopBatch({.size = size, .seed = seed}); });
    case WorldKind::kEcho:
    case WorldKind::kEchoListed: {
      const bool listed = o.task == WorldKind::kEchoListed;
      return std::make_unique<EchoWorld>(
          [&] { return EchoBatch({.size = size, .seed = seed, .listed = listed}); });
    }
  }
  return nullptr;
}

}  // namespace agentr
