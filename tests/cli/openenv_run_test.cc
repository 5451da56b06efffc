// Programs on an OpenEnv server: its first task file, checks, searches over connections that break,
// and answers that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/file.h"
#include "tests/cli/program.h"
#include "tests/clients/env/small_openenv_server.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kWords = R"([task]
name = "words"
transport = "openenv"
instruction = "Say words. Answer with \"Action: a\"."
tasks = 4
max_depth = 4

[session]
sessions_per_server = 2

[reset]
observation = "/observation/message"

[step]
observation = "/observation/message"

[action]
examples = ["a", "b", "bad", "win"]

[judgement]
revision_action = "bad"
)";

class OpenEnvRun : public ::testing::Test {
 protected:
  OpenEnvRun() { WriteFileAtomically(folder_.path() / "words.toml", std::string(kWords)); }
  Outcome Run(const std::string& program, std::vector<std::string> arguments) const {
    return RunProgram(program, arguments, folder_.path());
  }
  Outcome Search(const SmallOpenEnvServer& server, const std::string& output) const {
    return Run("mcts_collect", {"--task", "words.toml", "--env_server_base", server.url(), "--max",
                                "4", "--iterations", "8", "--n_gen", "2", "--output_dir", output});
  }
  const ScratchFolder folder_;
};

std::vector<std::string> Trees(const std::filesystem::path& folder) {
  std::vector<std::string> trees;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("search_results")) trees.push_back(ReadFile(entry.path()));
  }
  std::ranges::sort(trees);
  return trees;
}

TEST_F(OpenEnvRun, LostConnectionsAreReplayedAndLeaveTheTreesAsTheyWere) {
  SmallOpenEnvServer server(2);
  const Outcome whole = Search(server, "whole");
  EXPECT_EQ(whole.exit, 0) << whole.err;
  EXPECT_EQ(server.active(), 0) << "every environment is given back";
  const int opened = server.opened();
  EXPECT_EQ(server.closed_well(), opened);
  server.BreakEveryStep(7);
  const Outcome broken = Search(server, "broken");
  EXPECT_EQ(broken.exit, 0) << broken.err;
  EXPECT_GT(server.opened(), opened + 3);
  const auto trees = Trees(folder_.path() / "whole");
  EXPECT_EQ(trees.size(), 4U);
  EXPECT_EQ(trees, Trees(folder_.path() / "broken"));
}

TEST_F(OpenEnvRun, WhatIsNoAnswerIsToldOnce) {
  SmallOpenEnvServer server(2);
  server.SayAlways("oops");
  const Outcome searched = Search(server, "out");
  EXPECT_EQ(searched.exit, 4);
  const size_t told = searched.err.find("this one replied: oops");
  ASSERT_NE(told, std::string::npos) << searched.err;
  EXPECT_EQ(searched.err.find("this one replied: oops", told + 1), std::string::npos)
      << searched.err;
}

TEST_F(OpenEnvRun, AServerIsCheckedAlsoWithOneEnvironment) {
  for (const int slots : {1, 2}) {
    std::string file(kWords);
    if (slots == 1) file.replace(file.find("per_server = 2"), 14, "per_server = 1");
    WriteFileAtomically(folder_.path() / "words.toml", file);
    const SmallOpenEnvServer server(slots);
    const Outcome checked = Run("env_check", {"words.toml", "--base", server.url()});
    EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
    EXPECT_EQ(server.active(), 0);
    EXPECT_LE(server.opened(), slots);
  }
}

TEST_F(OpenEnvRun, TheFirstTaskFileIsWrittenAndWorks) {
  const SmallOpenEnvServer server(3);
  const Outcome written =
      Run("env_check", {server.url(), "--openenv", "--output", "first.toml", "--action", "a"});
  EXPECT_THAT(written.out, HasSubstr("first.toml is written"));
  const std::string file = ReadFile(folder_.path() / "first.toml");
  EXPECT_THAT(file, AllOf(HasSubstr("name = \"small_game\""), HasSubstr("transport = \"openenv\""),
                          HasSubstr("sessions_per_server = 3"),
                          HasSubstr("#   message (string, required): What you say"),
                          HasSubstr("body = {\"message\" = \"{action}\"}"),
                          HasSubstr("observation = \"/observation/message\"")));
  EXPECT_EQ(server.active(), 0);
  // The game has no turn that changes nothing but a refusal, which the user has to find.
  EXPECT_EQ(written.exit, 1) << written.out << written.err;
  EXPECT_THAT(written.out, HasSubstr("[judgement] revision_action"));

  const Outcome shown = Run("env_check", {server.url(), "--openenv", "--action", "a"});
  WriteFileAtomically(folder_.path() / "shown.toml", shown.out);
  const Outcome again = Run(
      "env_check", {"shown.toml", "--base", server.url(), "--action", "a", "--log_level", "warn"});
  EXPECT_THAT(again.out, HasSubstr("task 0 begins the same each time")) << again.err;

  const Outcome nobody =
      Run("env_check", {"http://127.0.0.1:1", "--openenv", "--env_attempts", "1"});
  EXPECT_EQ(nobody.exit, 4);
  EXPECT_THAT(nobody.err, HasSubstr("is no OpenEnv server, or does not answer"));
}

}  // namespace
}  // namespace agentr
