// babyai_bench: how often the bot solves each level of BabyAI-Text, and the steps per second of the
// game batched in the process, over HTTP, and (with --python) of the public package minigrid in the
// same run; then the steps per second of the guessing games, of Detective and of WebShop in
// ArCHer's style.
#include <fmt/core.h>
#include <stdio.h>

#include <chrono>
#include <string>
#include <vector>

#include "clients/env/http_environment.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/logging.h"
#include "common/options.h"
#include "common/random.h"
#include "games/babyai_batch.h"
#include "games/game_batch.h"
#include "tasks/babyai/babyai_bot.h"
#include "tasks/questions/asker.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/embedded_server.h"

namespace agentr {
namespace {

struct BenchOptions {
  int episodes = 1000;  // of the bot, for each level and task
  double seconds = 2;   // of each measurement
  std::string python;   // an interpreter that has minigrid
  std::string script = "scripts/golden/babyai_episodes.py";
};

void Declare(OptionSet& set, BenchOptions& o) {
  set.Group("Benchmark");
  set.Add("--episodes", o.episodes, "Episodes of the bot for each level and task").Min(1);
  set.Add("--seconds", o.seconds, "Duration of each measurement").Min(0.001);
  set.Add("--python", o.python, "Python with the package minigrid, to measure beside ours");
  set.Add("--script", o.script, "The script that measures minigrid");
}

struct BotScore {
  int solved = 0;
  double steps = 0;
  double reward = 0;
};

// The bot reads the texts that a language model would read.
BotScore PlayBot(const BabyAiText& game, int episodes, int first) {
  BotScore score;
  for (int i = 0; i < episodes; ++i) {
    std::optional<BabyAiTextState> state = game.Start(first + i);
    std::vector<Message> conversation = {{"user", state->observation}};
    while (!state->game.done()) {
      const std::string action(PlanBabyAi(*ReadBabyAi(conversation)).action);
      game.Step(*state, action);
      conversation.push_back({"assistant", "Action: " + action});
      conversation.push_back({"user", state->observation});
    }
    score.solved += state->game.solved() ? 1 : 0;
    score.steps += state->game.steps();
    score.reward += state->score;
  }
  return score;
}

void PrintBot(int episodes) {
  fmt::print("the bot, {} episodes each{:>28} {:>9} {:>9}\n", episodes, "solved", "return",
             "steps");
  for (const BabyAiLevel& level : BabyAiLevels()) {
    for (const BabyAiTask task : level.tasks) {
      const std::string name(BabyAiTaskName(task));
      const BabyAiText game({std::string(level.name), name, false});
      const BotScore score = PlayBot(game, episodes, 0);
      fmt::print("{:<36} {:<9} {:>10} {:>9.3f} {:>9.1f}\n", level.name, name, score.solved,
                 score.reward / episodes, score.steps / episodes);
    }
  }
}

double BatchedSpeed(const std::string& level, const std::string& task, size_t size,
                    double seconds) {
  BabyAiBatch batch({.size = size, .level = level, .task = task});
  RandomStream random(5);
  std::vector<std::string_view> actions(size);
  int64_t steps = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (SecondsSince(begin) < seconds) {
    for (std::string_view& action : actions) action = random.Pick(batch.actions());
    batch.Step(actions);
    steps += static_cast<int64_t>(size);
  }
  return static_cast<double>(steps) / SecondsSince(begin);
}

void PrintBatched(double seconds) {
  fmt::print("\nsteps/s in the process on one thread, with descriptions, random actions\n");
  for (const size_t size : {size_t{1}, size_t{32}, size_t{1024}}) {
    fmt::print("{:<36} {:>5} slots {:>12.0f}\n", "MixedTrainLocal, all tasks", size,
               BatchedSpeed("MixedTrainLocal", "", size, seconds));
  }
  for (const char* task : {"goto", "pickup", "open", "putnext", "seq"}) {
    fmt::print("{:<36} {:>5} slots {:>12.0f}\n", fmt::format("MixedTrainLocal, {}", task), 32,
               BatchedSpeed("MixedTrainLocal", task, 32, seconds));
  }
  fmt::print("{:<36} {:>5} slots {:>12.0f}\n", "MixedTestLocal, all tasks", 32,
             BatchedSpeed("MixedTestLocal", "", 32, seconds));
}

// Steps per second of one session that takes any of `actions`.
void PrintHttp(const std::string& task, const std::vector<std::string>& actions, int tasks,
               double seconds) {
  const auto server = StartServer(task);
  HttpEnvironment environment(MakeProtocol(task), {server->base_url()}, HttpOptions{});
  const auto session = environment.Open().value();
  int64_t steps = 0;
  int next_task = 0;
  RandomStream random(5);
  auto begin = std::chrono::steady_clock::now();
  bool done = true;
  while (SecondsSince(begin) < seconds) {
    if (done) session->Reset(next_task++ % tasks).value();
    done = session->Step(random.Pick(actions)).value().done;
    ++steps;
  }
  fmt::print("{:<36} {:>12.0f} steps/s over HTTP, one connection\n", task,
             static_cast<double>(steps) / SecondsSince(begin));
  session->Reset(0).value();
  steps = 0;
  begin = std::chrono::steady_clock::now();
  while (SecondsSince(begin) < seconds) {
    steps += static_cast<int64_t>(session->Expand(actions).value().size());
  }
  fmt::print("{:<36} {:>12.0f} steps/s over HTTP, /expand of {} actions\n", task,
             static_cast<double>(steps) / SecondsSince(begin), actions.size());
}

template <typename Batch>
void PrintBatchedGame(std::string_view name, Batch batch, const std::vector<std::string>& texts,
                      double seconds) {
  RandomStream random(5);
  std::vector<std::string_view> actions(batch.size());
  int64_t steps = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (SecondsSince(begin) < seconds) {
    for (std::string_view& action : actions) action = random.Pick(texts);
    batch.Step(actions);
    steps += static_cast<int64_t>(batch.size());
  }
  fmt::print("{:<36} {:>12.0f} steps/s in the process on one thread, {} slots\n", name,
             static_cast<double>(steps) / SecondsSince(begin), batch.size());
}

std::vector<std::string> SomeQuestions(const WordTable& table) {
  RandomStream random(5);
  std::vector<std::string> questions;
  for (int i = 0; i < 200; ++i) questions.push_back(AnyQuestion(table, random));
  return questions;
}

void PrintServed(double seconds) {
  const auto texts = BabyAiActionTexts();
  fmt::print("\n");
  PrintHttp("babyai", {texts.begin(), texts.end()}, BabyAiText::kTrainTasks, seconds);
  const std::vector<std::string> doors = {"north", "east", "south", "west"};
  PrintBatchedGame("twenty_questions", TwentyQuestionsBatch({}),
                   SomeQuestions(WordTable::BuiltIn()), seconds);
  PrintBatchedGame("guess_my_city", GuessMyCityBatch({}),
                   SomeQuestions(CityTable::BuiltIn().words()), seconds);
  PrintBatchedGame("detective", GameBatch<Detective>(Detective(), "solve the case", {}), doors,
                   seconds);
  const std::vector<std::string> purchase = {"search[desk lamp]", "click[Back to Search]",
                                             "click[< Prev]", "think[which one?]"};
  PrintBatchedGame("webshop_archer", ArcherShopBatch({}), purchase, seconds);
  const std::vector<std::string> questions = {"Is it alive?", "Is it in Asia?", "Is it sweet?",
                                              "Is it a city?"};
  PrintHttp("twenty_questions", questions, 157, seconds);
  PrintHttp("guess_my_city", questions, 91, seconds);
  PrintHttp("detective", doors, 1000, seconds);
  PrintHttp("webshop_archer", purchase, 1000, seconds);
}

void PrintPython(const BenchOptions& options) {
  const std::string command =
      fmt::format("'{}' '{}' --bench {}", options.python, options.script, options.seconds);
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw FatalError(ExitCode::kFile, "cannot run " + command);
  double speed = 0;
  const bool read = ::fscanf(pipe, "%lf", &speed) == 1;
  if (::pclose(pipe) != 0 || !read) throw FatalError(ExitCode::kFile, "this failed: " + command);
  fmt::print("\nsteps/s of minigrid in Python, with descriptions, random actions: {:.0f}\n", speed);
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::BenchOptions options;
    agentr::LogOptions log;
    log.level = "warn";
    agentr::OptionSet set(
        "babyai_bench",
        "BabyAI-Text, the guessing games, Detective and WebShop in ArCHer's style: the bot's "
        "score, and steps per second.");
    Declare(set, options);
    Declare(set, log);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    InitLogging(log);
    agentr::PrintBot(options.episodes);
    agentr::PrintBatched(options.seconds);
    agentr::PrintServed(options.seconds);
    if (!options.python.empty()) agentr::PrintPython(options);
    return agentr::ExitCode::kOk;
  });
}
