// A kind of task of one's own, searched with the options and the files of mcts_collect: the game of
// guessing a number from 1 to 100 in eight guesses, where the answers are "higher" and "lower".
#include <charconv>
#include <optional>
#include <string>

#include "clients/env/text_game_protocol.h"
#include "common/options.h"
#include "mcts/mcts_collect.h"
#include "servers/text_game_service.h"
#include "tasks/scripted_policy.h"
#include "tasks/task_kinds.h"

namespace own {
using namespace agentr;
constexpr std::string_view kRefusal = "Please say a number from 1 to 100.";

std::optional<int> NumberIn(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number >= 1 && number <= 100 ? std::optional(number) : std::nullopt;
}

// The rules, as servers/text_game_service.h asks for them: the secret of task 41 is 42.
struct Game {
  struct State {
    int secret = 0;
    std::string observation = "I think of a number from 1 to 100.";
    double reward = 0, score = 0;
    int guesses = 0;
    bool done() const { return reward > 0 || guesses == 8; }
  };
  static constexpr std::string_view kTask = "guess_number", kTitle = "GuessNumber";
  static int task_count() { return 100; }
  static std::string DataHash() { return "guess_number 1"; }

  static std::optional<State> Start(int64_t task) {
    if (task < 0 || task >= task_count()) return std::nullopt;
    return State{.secret = static_cast<int>(task) + 1};
  }

  static void Step(State& state, std::string_view action) {
    const std::optional<int> guess = NumberIn(action);
    state.observation = kRefusal;
    if (!guess) return;
    ++state.guesses;
    state.reward = state.score = *guess == state.secret ? 1 : 0;
    state.observation = *guess == state.secret  ? "Yes!"
                        : *guess < state.secret ? "higher than " + std::to_string(*guess)
                                                : "lower than " + std::to_string(*guess);
  }
};

std::vector<std::string> Gold(const Game&, int64_t task) { return {std::to_string(task + 1)}; }

// What a search must know about the game.
class Family : public TaskFamily {
 public:
  std::string_view name() const override { return Game::kTask; }
  std::vector<Message> Instruction() const override {
    return {{"user", "Guess the number that I think of. Answer with \"Action: 50\"."},
            {"assistant", "Ok."}};
  }
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override {
    return IsRefusal(before, action, after);
  }
  bool IsRefusal(std::string_view, std::string_view, std::string_view after) const override {
    return after == kRefusal;
  }
  std::vector<bool> LikelyUnchanged(std::span<const Message>,
                                    std::span<const std::string> actions) const override {
    std::vector<bool> likely;
    for (const std::string& action : actions) likely.push_back(!NumberIn(action));
    return likely;
  }
};

// The scripted player: halves what is left, and by mistake says any number of it.
class Policy : public PolicyState {
 public:
  explicit Policy(std::span<const Message> shown) {
    for (const Message& message : shown) {
      const std::string& text = message.content;
      if (text.starts_with("higher")) low_ = std::max(low_, std::stoi(text.substr(12)) + 1);
      if (text.starts_with("lower")) high_ = std::min(high_, std::stoi(text.substr(11)) - 1);
    }
  }
  int wasted_turns() const override { return 0; }
  std::string Plan() override { return std::to_string((low_ + high_) / 2); }
  std::string Mistake(RandomStream& random) override { return AnyAction(random); }
  std::string AnyAction(RandomStream& random) const override {
    return std::to_string(low_ + static_cast<int>(random.Below(high_ - low_ + 1)));
  }
  std::string Thought(std::string_view action, RandomStream&) const override {
    return "It may be " + std::string(action) + ".";
  }

 private:
  int low_ = 1, high_ = 100;
};

// Serves the game inside this process, and opens the models that need no more than a name.
class Workbench : public agentr::Workbench {
 public:
  Workbench() : game_(Game(), {}, /*extensions=*/true), http_({.port = 0}) {
    game_.AddTo(http_);
    http_.Start();
  }
  std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) override {
    std::vector<Secret> bases = options.env_server_base;
    if (bases.empty()) bases = {http_.base_url()};
    return std::make_unique<HttpEnvironment>(MakeProtocol(options.task), bases, options.http);
  }
  std::unique_ptr<LanguageModel> OpenModel(const ModelOptions& options, const TaskFamily& family,
                                           const EnvironmentOptions&) override {
    if (!IsScripted(options)) {
      return std::make_unique<OpenAiModel>(options.name, options.openai);
    }
    const std::string name = options.name.empty() ? "planner" : options.name;
    return MakeScriptedModel(name, family, options.scripted);
  }
  std::unique_ptr<ChatEncoder> OpenEncoder(const std::string&) override { return {}; }

 private:
  TextGameService<Game> game_;
  HttpService http_;
};

}  // namespace own

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::RegisterTaskKind(
        {.name = "guess_number",
         .title = "Guess the number",
         .family = [] { return std::make_unique<own::Family>(); },
         .protocol = [] { return std::make_unique<agentr::TextGameProtocol>("guess_number"); },
         .policy = [](auto shown, int, auto*) { return std::make_unique<own::Policy>(shown); },
         .split = agentr::Split({0, 1, 2}, {})});
    agentr::MctsCollectOptions options;
    options.environment.task = "guess_number";
    agentr::OptionSet set("own_environment", "Searches games of guessing a number.");
    Declare(set, options);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    own::Workbench workbench;
    return agentr::MctsCollect(options, set, workbench);
  });
}
