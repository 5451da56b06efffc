// Kinds of tasks from files, as a user runs them: a server of one's own, checked, searched, revised
// and evaluated; and a built-in world by its file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "common/file.h"
#include "common/text.h"
#include "tasks/task_kinds.h"
#include "tests/cli/page.h"
#include "tests/cli/program.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/env/session_server.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct NumberGame {
  int secret = 0, guesses = 0;
  std::string observation = "I think of a number from 1 to 8.";
  bool deleted = false;
};

// Guess a number from 1 to 8 in three guesses, with the paths, names and ids of nobody else.
class NumberServer : public SessionServer<NumberGame> {
 public:
  // kShared: /expand gives ids of one and the same game.
  enum class Forks { kNone, kShared };

  explicit NumberServer(bool random_begin = false, Forks forks = Forks::kNone) {
    if (forks == Forks::kShared) {
      server_->Get("/version", [](const auto&, auto& response) {
        response.set_content(
            R"({"server": "n", "version": "1", "data_hash": "n", "extensions": ["expand"]})",
            "application/json");
      });
    }
    On("/expand", [this](const Json& body) -> Json {
      Json children = Json::array();
      for (const Json& action : body.at("actions")) {
        const std::string child = fmt::format("g{}", next_id_++);
        shared_[child] = Shared(body.at("game"));
        Json step = Say({{"game", child}, {"said", action}});
        step["game"] = child;
        children.push_back(std::move(step));
      }
      return Json{{"children", children}};
    });
    On("/games/new", [this](const Json&) -> Json {
      return Json{{"game", fmt::format("g{}", next_id_++)}};
    });
    On("/games/begin", [this, random_begin](const Json& body) -> Json {
      NumberGame game{.secret = body.at("number").get<int>() % 8 + 1};
      if (random_begin) game.observation += fmt::format(" Greetings {}.", begun_);
      ++begun_;
      games_[body.at("game")] = game;
      return Json{{"shown", {{"text", game.observation}}}};
    });
    On("/games/say", [this](const Json& body) -> Json { return Say(body); });
    server_.Start();
  }

 private:
  std::string Shared(const std::string& id) const {
    const auto found = shared_.find(id);
    return found == shared_.end() ? id : found->second;
  }

  Json Say(const Json& body) {
    NumberGame& game = games_.at(Shared(body.at("game")));
    const auto guess = ParseNumber<int>(body.at("said").get<std::string>());
    if (!guess) {
      game.observation = "Please say a number.";
    } else {
      ++game.guesses;
      game.observation = *guess == game.secret ? "Yes!" : *guess < game.secret ? "higher" : "lower";
    }
    const bool won = game.observation == "Yes!";
    return Json{{"shown", {{"text", game.observation}}},
                {"points", won ? 100 : 0},
                {"won", won},
                {"out_of_guesses", game.guesses >= 3}};
  }

  std::map<std::string, NumberGame> games_;
  std::map<std::string, std::string> shared_;
  int begun_ = 0;
};

constexpr std::string_view kNumbers = R"([task]
name = "numbers"
title = "Numbers"
tasks = 16
instruction = "Guess the number that I think of. Answer with \"Action: 4\"."
max_depth = 4

[session]
id_field = "game"

[create]
path = "/games/new"
id = "/game"

[reset]
path = "/games/begin"
body = {game = "{id}", number = "{task}"}
observation = "/shown/text"

[step]
path = "/games/say"
body = {game = "{id}", said = "{action}"}
observation = "/shown/text"
reward = "/points"
done = ["/won", "/out_of_guesses"]

[observe]
path = ""

[close]
path = ""

[reward]
scale = 0.01

[action]
examples = ["1", "2", "3", "4", "5", "6", "7", "8", "what"]

[judgement]
refused = ["^Please say"]
mistakes = [{name = "too_low", pattern = "^higher$"}, {name = "too_high", pattern = "^lower$"}]

[splits]
test = "8-15"
)";

class TaskFileRun : public ::testing::Test {
 protected:
  TaskFileRun() { WriteFileAtomically(folder_.path() / "numbers.toml", std::string(kNumbers)); }
  Outcome Run(const std::string& program, std::vector<std::string> arguments) const {
    return RunProgram(program, arguments, folder_.path());
  }
  const ScratchFolder folder_;
};

TEST_F(TaskFileRun, AServerOfOnesOwnIsCheckedSearchedRevisedAndEvaluated) {
  const NumberServer server;
  const Outcome checked = Run("env_check", {"numbers.toml", "--base", server.url()});
  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
  EXPECT_THAT(
      checked.out,
      AllOf(HasSubstr("% of the refusals by \""), HasSubstr("task 0 begins the same each time"),
            HasSubstr("so does task 0, with the same text"),
            HasSubstr("replayed actions have the same answers"),
            HasSubstr("Search, revision and evaluation will work."), Not(HasSubstr("WRONG"))));

  const Outcome searched =
      Run("mcts_collect", {"--task", "numbers.toml", "--env_server_base", server.url(), "--max",
                           "16", "--iterations", "20", "--n_gen", "3"});
  EXPECT_EQ(searched.exit, 0) << searched.err;
  EXPECT_THAT(searched.out, HasSubstr("8 trees written")) << "not those of test tasks";
  EXPECT_EQ(ReadFile(folder_.path() / "mcts_result/numbers/planner/task.toml"), kNumbers);

  const Outcome revised =
      Run("path_collect", {"--env_server_base", server.url(), "--max_pairs_per_task", "2"});
  EXPECT_EQ(revised.exit, 0) << revised.out << revised.err;
  EXPECT_THAT(revised.out, HasSubstr("verified"));
  EXPECT_THAT(revised.out, testing::ContainsRegex("too_(low|high)"));
  const auto rows = ReadRows(folder_.path() / "path_result/numbers_centric.messages.jsonl");
  EXPECT_GT(rows.size(), 3U);

  const Outcome evaluated =
      Run("agent_eval", {"--task", "numbers.toml", "--env_server_base", server.url()});
  EXPECT_EQ(evaluated.exit, 0) << evaluated.out << evaluated.err;
  const std::string result = "test_result/numbers/planner_scripted";
  const Outcome compared = Run("agent_eval", {"--compare", result, result});
  EXPECT_EQ(compared.exit, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("8 tasks compared"));
  const Outcome arms = Run("agent_eval", {"--arm", "one=" + result, "--arm", "two=" + result});
  EXPECT_EQ(arms.exit, 0) << arms.err;

  // The saved options find the file again; nothing is left to do.
  const Outcome again =
      Run("mcts_collect", {"--config", "mcts_result/numbers/planner/resolved.toml"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("0 trees written, 8 existed already"));

  // The report knows the kind from the folder.
  const Outcome report = Run("agent_report", {"mcts_result", "path_result", "test_result"});
  EXPECT_EQ(report.exit, 0) << report.err;
  EXPECT_THAT(report.err, Not(HasSubstr("unknown task")));
}

TEST_F(TaskFileRun, AChangedFileIsAnotherKindOfTask) {
  const NumberServer server;
  const std::vector<std::string> search = {
      "--task", "numbers.toml", "--env_server_base", server.url(), "--max", "2", "--iterations",
      "3"};
  ASSERT_EQ(Run("mcts_collect", search).exit, 0);
  std::string changed(kNumbers);
  ReplaceAll(changed, "scale = 0.01", "scale = 0.005");
  WriteFileAtomically(folder_.path() / "numbers.toml", changed);
  const Outcome other = Run("mcts_collect", search);
  EXPECT_EQ(other.exit, 2) << other.err;
  // Rows may follow the changed file, but not without a word.
  const std::string warning = "searched by another task file of the name numbers";
  const Arguments revise = {"--env_server_base", server.url(), "--alpha", "0.1"};
  EXPECT_THAT(Run("path_collect", revise).err, Not(HasSubstr(warning)));
  EXPECT_THAT(Run("path_collect", revise + Words("--task numbers.toml")).err,
              AllOf(HasSubstr(warning), HasSubstr("mcts_result/numbers/planner/task.toml")));
}

TEST_F(TaskFileRun, ADamagedFirstTreeIsLeftOut) {
  const NumberServer server;
  ASSERT_EQ(Run("mcts_collect", {"--task", "numbers.toml", "--env_server_base", server.url(),
                                 "--max", "16", "--iterations", "20", "--n_gen", "3"})
                .exit,
            0);
  WriteFileAtomically(folder_.path() / "mcts_result/numbers/planner/search_results_0.json", "{");
  const Outcome revised = Run("path_collect", {"--env_server_base", server.url()});
  EXPECT_EQ(revised.exit, 1) << revised.err;
  EXPECT_THAT(revised.out, HasSubstr("7 read, 1 bad file"));
}

TEST_F(TaskFileRun, AServerThatNamesNoNumberOfTasksIsNotSaidToHaveNone) {
  const NumberServer server;
  std::string file(kNumbers);
  ReplaceAll(file, "tasks = 16\n", "");
  WriteFileAtomically(folder_.path() / "numbers.toml", file);
  const Outcome none = Run("mcts_collect", {"--task", "numbers.toml", "--env_server_base",
                                            server.url(), "--min", "5", "--max", "5"});
  EXPECT_NE(none.exit, 0);
  EXPECT_THAT(none.err, Not(HasSubstr("0 tasks")));
}

TEST_F(TaskFileRun, TheCheckSaysWhatIsWrongAndWhatHelps) {
  const NumberServer random(/*random_begin=*/true);
  const Outcome begins = Run("env_check", {"numbers.toml", "--base", random.url()});
  EXPECT_EQ(begins.exit, 1);
  EXPECT_THAT(begins.out, HasSubstr("task 0 does not always begin the same"));

  const NumberServer server;
  std::string file(kNumbers);
  ReplaceAll(file, "reward = \"/points\"", "reward = \"/reward\"");
  WriteFileAtomically(folder_.path() / "numbers.toml", file);
  const Outcome pointer = Run("env_check", {"numbers.toml", "--base", server.url()});
  EXPECT_EQ(pointer.exit, 1);
  EXPECT_THAT(pointer.out, AllOf(HasSubstr("no number for the reward at \"/reward\""),
                                 HasSubstr("this one replied: {\"out_of_guesses\"")));

  ReplaceAll(file, "reward = \"/reward\"", "reward = \"/points\"");
  ReplaceAll(file, "scale = 0.01", "scale = 1");
  WriteFileAtomically(folder_.path() / "numbers.toml", file);
  const Outcome scale =
      Run("env_check", {"numbers.toml", "--base", server.url(), "--episodes", "20"});
  EXPECT_EQ(scale.exit, 1);
  EXPECT_THAT(scale.out, HasSubstr("rewards go from 0 to 100"));

  ReplaceAll(file, "scale = 1", "scale = 0.01");
  ReplaceAll(file, "mistakes =", "revision_action = \"1\"\nmistakes =");
  WriteFileAtomically(folder_.path() / "numbers.toml", file);
  // A guess more ends the game sooner.
  const Outcome revision =
      Run("env_check", {"numbers.toml", "--base", server.url(), "--episodes", "10"});
  EXPECT_EQ(revision.exit, 1);
  EXPECT_THAT(revision.out, HasSubstr("and moves the episode"));

  file = kNumbers;
  ReplaceAll(file, "\"^Please say\"", "\"^Please say\", \"^higher\", \"^lower\"");
  WriteFileAtomically(folder_.path() / "numbers.toml", file);
  const Outcome wide =
      Run("env_check", {"numbers.toml", "--base", server.url(), "--episodes", "10"});
  EXPECT_EQ(wide.exit, 1) << "a guess is used up";
  EXPECT_THAT(wide.out, AllOf(HasSubstr("changes nothing, but without it"),
                              HasSubstr("[judgement] refused")));

  ReplaceAll(file, "\"^higher\"", "\".\"");
  WriteFileAtomically(folder_.path() / "numbers.toml", file);
  EXPECT_THAT(Run("env_check", {"numbers.toml", "--base", server.url()}).out,
              HasSubstr("every action was refused"));

  const NumberServer shared(false, NumberServer::Forks::kShared);
  WriteFileAtomically(folder_.path() / "numbers.toml", std::string(kNumbers));
  const Outcome forks =
      Run("env_check", {"numbers.toml", "--base", shared.url(), "--episodes", "10"});
  EXPECT_EQ(forks.exit, 1) << forks.out;
  EXPECT_THAT(forks.out, HasSubstr("/expand makes forks with other answers, or moves"));

  WriteFileAtomically(folder_.path() / "numbers.toml", "[task]\nname = \"numbers\"\n");
  const Outcome bad = Run("env_check", {"numbers.toml", "--base", server.url()});
  EXPECT_EQ(bad.exit, 2);
  EXPECT_THAT(bad.err, HasSubstr("numbers.toml, line 1: [task] has no instruction"));
  EXPECT_THAT(Run("mcts_collect", {"--task", "nombers.toml"}).err, HasSubstr("nombers.toml"));
  WriteFileAtomically(folder_.path() / "numbers.toml", std::string(kNumbers));
  EXPECT_THAT(Run("mcts_collect", {"--task", "numbers.toml"}).err, HasSubstr("--env_server_base"));
}

// A language model that takes one of `actions`, or of the recipes that it sees.
class AnyModel {
 public:
  explicit AnyModel(const std::vector<std::string>& actions) {
    server_->Post("/v1/chat/completions", [actions](const httplib::Request& request,
                                                    httplib::Response& reply) {
      const auto asked = nlohmann::json::parse(request.body);
      std::string all;
      std::vector<std::string> possible = actions;
      for (const auto& message : asked["messages"]) {
        const std::string text = message["content"];
        all += text;
        for (size_t at = text.find("\ncraft "); at != std::string::npos;
             at = text.find("\ncraft ", at + 1)) {
          possible.push_back(text.substr(at + 1, text.find('\n', at + 1) - at - 1));
        }
        // What the newest page of a shop has between its marks, the options among it.
        if (message == asked["messages"].back() && text.find("[SEP]") != std::string::npos) {
          for (size_t at = 0; at != std::string::npos; at = text.find("[SEP]", at + 1)) {
            const size_t begin = at == 0 ? 0 : at + 6;
            const size_t end = text.find(" [SEP]", begin);
            if (end != std::string::npos)
              possible.push_back("click[" + text.substr(begin, end - begin) + "]");
          }
        }
      }
      auto choices = nlohmann::json::array();
      for (int i = 0; i < asked.value("n", 1); ++i) {
        const size_t chosen = std::hash<std::string>{}(all + std::to_string(i)) % possible.size();
        choices.push_back(
            {{"index", i},
             {"message", {{"role", "assistant"}, {"content", "Action: " + possible[chosen]}}},
             {"finish_reason", "stop"}});
      }
      reply.set_content(nlohmann::json{{"choices", choices}}.dump(), "application/json");
    });
    server_.Start();
  }
  std::string url() const { return server_.url() + "/v1"; }

 private:
  LocalServer server_;
};

struct World {
  std::string kind;
  std::vector<std::string> actions;
};

// The file of AgentGym's server with the instruction of the built-in kind: its own has other words.
std::string FileOf(const std::string& kind) {
  const std::vector<Message> instruction = MakeTaskFamily(kind)->Instruction();
  std::string file = ReadFile(AGENTR_SOURCE_DIR "/configs/tasks/agentgym_" + kind + ".toml");
  const size_t begin = file.find("instruction = '''"), end = file.find("'''", begin + 20);
  file.replace(begin, end + 3 - begin, "instruction = '''" + instruction[0].content + "'''");
  return file;
}

class ByItsFile : public TaskFileRun, public ::testing::WithParamInterface<World> {};

INSTANTIATE_TEST_SUITE_P(
    Worlds, ByItsFile,
    ::testing::Values(World{"textcraft", {"inventory", "get 1 oak log", "get 2 stick", "fly"}},
                      World{"wordle",
                            {"s o l a r", "P A N I C", "could", "w r u n g", "c r a n e"}},
                      World{"webshop",
                            {"search[shoes]", "search[red shirt]", "click[Buy Now]",
                             "click[add to cart]", "buy it"}},
                      World{"maze", {"move left", "Move right", "move up", "move down", "wait"}}),
    [](const auto& test) { return test.param.kind; });

TEST_P(ByItsFile, AWorldGivesTheTreesOfTheBuiltInKind) {
  const std::string& kind = GetParam().kind;
  const auto server = StartServer(kind);
  const AnyModel model(GetParam().actions);
  WriteFileAtomically(folder_.path() / "own.toml", FileOf(kind));
  // A refused guess of Wordle is one of the six, so that a revision's turn cannot be free there.
  const Outcome checked = Run("env_check", {"own.toml", "--base", server->base_url()});
  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.out.find("uses up a turn") != std::string::npos, kind == "wordle");
  std::map<std::string, std::map<std::string, std::string>> trees;
  for (const std::string& task : {kind, std::string("own.toml")}) {
    const Outcome outcome = Run(
        "mcts_collect", {"--task", task, "--env_server_base", server->base_url(), "--llm_base",
                         model.url(), "--model_name", "any", "--min", "31", "--max", "40",
                         "--iterations", "8", "--max_depth", "6", "--output_dir", "of_" + task});
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    trees[task] = TreeFiles(folder_.path() / ("of_" + task));
  }
  std::map<std::string, std::string> own;
  for (const auto& [full_name, full_text] : trees["own.toml"]) {
    std::string name = full_name, text = full_text;
    ReplaceAll(text, "agentgym_" + kind, kind);
    if (const size_t hash = text.find('+'); hash != std::string::npos && hash < 2000)
      text.erase(hash, 17);
    ReplaceAll(name, "agentgym_" + kind, kind);
    own[name] = text;
  }
  EXPECT_GT(own.size(), 4U);
  EXPECT_EQ(own, trees[kind]);
}

TEST_F(TaskFileRun, AShopsFileCorrectsWhatIsNotOfferedAsTheBuiltInKindDoes) {
  const auto server = StartServer("webshop");
  // Searches for what the tasks 32 to 34 want.
  const AnyModel model({"search[herbal tea]", "search[dried fruit]", "search[gummies]",
                        "click[Buy Now]", "click[Buy Now]", "click[add to cart]", "buy it"});
  WriteFileAtomically(folder_.path() / "own.toml", FileOf("webshop"));
  for (const auto& [task, name] :
       {std::pair("webshop", "webshop"), {"own.toml", "agentgym_webshop"}}) {
    const std::string trees = std::string("trees_of_") + name;
    const std::string made = std::string("rows_of_") + name;
    const Outcome searched =
        Run("mcts_collect", {"--task", task, "--env_server_base", server->base_url(), "--llm_base",
                             model.url(), "--model_name", "any", "--min", "32", "--max", "35",
                             "--iterations", "60", "--max_depth", "10", "--output_dir", trees});
    ASSERT_EQ(searched.exit, 0) << searched.err;
    const Outcome revised =
        Run("path_collect", {"--input_dir", trees, "--output_dir", made, "--env_server_base",
                             server->base_url(), "--alpha", "0.05", "--beta", "0.04"});
    ASSERT_EQ(revised.exit, 0) << searched.out << revised.err;
    EXPECT_THAT(revised.out,
                AllOf(HasSubstr(name == std::string("webshop") ? "not_on_page" : "not_offered"),
                      HasSubstr("malformed")));
    const auto rows =
        ReadRows(folder_.path() / made / (std::string(name) + "_centric.messages.jsonl"));
    EXPECT_GT(rows.size(), 3U) << name;
  }
}

// The commands of docs/your_environment.md, word for word but for the port.
TEST_F(TaskFileRun, ThePageForUsersWorksLiterally) {
  if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null") !=
      0) {
    GTEST_SKIP() << "there is no python3 of at least version 3.9";
  }
  LocalServer free_port;
  free_port.Start();
  const std::string port = std::to_string(free_port.port());
  free_port.Stop();
  std::string page = ReadPage("docs/your_environment.md");
  ReplaceAll(page, "8080", port);
  const std::vector<std::string> commands = CommandsOf(page);
  EXPECT_EQ(commands.size(), 6U);
  const Outcome outcome = RunCommands(commands, folder_.path(), std::stoi(port));
  EXPECT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_GT(ReadRows(folder_.path() / "path_result/number_game_centric.messages.jsonl").size(), 0U);
}

}  // namespace
}  // namespace agentr
