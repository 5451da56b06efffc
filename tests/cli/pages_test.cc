// The commands of README.md, docs/tutorial.md and docs/python.md do what these pages say. Those of
// docs/your_environment.md are in task_file_run_test.cc.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "common/file.h"
#include "common/text.h"
#include "tests/cli/page.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// The blocks between ```text and ```.
std::vector<std::string> OutputsOf(const std::string& page) {
  constexpr std::string_view kBegin = "```text\n";
  std::vector<std::string> outputs;
  for (size_t at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, at + 1)) {
    const size_t begin = at + kBegin.size();
    outputs.push_back(page.substr(begin, page.find("```", begin) - begin));
  }
  return outputs;
}

TEST(Pages, TheReadmeWorksLiterally) {
  const std::string page = ReadPage("README.md");
  std::vector<std::string> commands = CommandsOf(page);
  // It would build everything and run this test.
  EXPECT_EQ(std::erase_if(
                commands,
                [](const std::string& command) { return command.starts_with("scripts/test.sh "); }),
            1U);
  EXPECT_EQ(commands.size(), 4U);
  const ScratchFolder folder;
  const Outcome outcome = RunCommands(commands, folder.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  const std::vector<std::string> outputs = OutputsOf(page);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(outputs[0]), HasSubstr("4101 nodes"),
                    HasSubstr("rows          180\n"), HasSubstr("verified 2454 (100.0 %)")));
  for (const char* made : {"agentr_report.html", "path_result/webshop_centric.jsonl",
                           "test_result/webshop/planner_scripted/summary.json"}) {
    EXPECT_TRUE(fs::exists(folder.path() / made)) << made;
  }
}

// Word for word, but for sizes: the page's loop takes many minutes.
TEST(Pages, TheTutorialWorks) {
  std::string page = ReadPage("docs/tutorial.md");
  const std::vector<std::pair<std::string, std::string>> smaller = {
      {"--max 20\n", "--max 1\n"},
      {"--max 544 --sample 20", "--max 39 --sample 8"},
      {"--textcraft_books 60", "--textcraft_books 1"},
      {"--iterations 1 --name first",
       "--iterations 1 --name first --train_tokens 200 --collect=--min=31 --collect=--max=32 "
       "--collect=--iterations=1 --collect=--n_gen=2 --collect=--max_depth=3 --evaluate=--max=1 "
       "--evaluate=--max_steps=2 --train=--max_length=2048 --train=--batch_rows=4"}};
  for (const auto& [whole, part] : smaller) {
    ASSERT_NE(page.find(whole), std::string::npos) << whole;
    ReplaceAll(page, whole, part);
  }
  const std::vector<std::string> commands = CommandsOf(page);
  EXPECT_EQ(commands.size(), 9U);
  const ScratchFolder folder;
  const Outcome outcome = RunCommands(commands, folder.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  for (const char* made : {"agentr_report.html", "loop_result/first/table.txt",
                           "loop_result/first/iteration_1/train/model/model/model.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder.path() / made)) << made;
  }
}

// Every program as quickstart.sh calls it, but for the sizes of the loop, which takes many minutes.
TEST(Pages, TheLoopOfTheQuickstartWorks) {
  const ScratchFolder folder;
  const std::string loop = fmt::format(
      "mkdir programs && ln -s {}/* programs && rm programs/self_train\n"
      "cat >programs/self_train <<'END'\n"
      "#!/bin/sh\n"
      "exec {}/self_train \"$@\" --train_tokens 200 --collect=--min=31 --collect=--max=32 "
      "--collect=--iterations=1 --collect=--n_gen=2 --collect=--max_depth=3 --evaluate=--max=1 "
      "--evaluate=--max_steps=2 --train=--max_length=2048 --train=--batch_rows=4\n"
      "END\n"
      "chmod +x programs/self_train\n",
      AGENTR_BIN_DIR, AGENTR_BIN_DIR);
  const Outcome outcome =
      RunCommands({loop, "AGENTR_BIN=$PWD/programs scripts/quickstart.sh --loop"}, folder.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("loop_result/quickstart/table.txt"));
  for (const char* made :
       {"agentr_report.html", "demos_result/textcraft.jsonl", "loop_result/quickstart/table.txt",
        "loop_result/quickstart/iteration_1/train/model/model/model.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder.path() / made)) << made;
  }
}

TEST(Pages, ThePageOnPythonWorksLiterally) {
  if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null") !=
      0) {
    GTEST_SKIP() << "there is no python3 of at least version 3.9";
  }
  const std::vector<std::string> commands = CommandsOf(ReadPage("docs/python.md"));
  EXPECT_EQ(commands.size(), 5U);
  const ScratchFolder folder;
  const Outcome outcome = RunCommands(commands, folder.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("[(31, "), HasSubstr("\nAction: wait\n")));
}

// A file that a page links to is there, and so is a heading in it.
TEST(Pages, LinksLeadSomewhere) {
  const fs::path root = AGENTR_SOURCE_DIR;
  const std::regex link(R"(\]\(([^)\s]+)\))");
  std::vector<fs::path> pages = {root / "README.md", root / "CONTRIBUTING.md",
                                 root / "CHANGELOG.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  EXPECT_GT(pages.size(), 20U);
  for (const fs::path& page : pages) {
    const std::string text = ReadFile(page);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      std::string target = (*at)[1];
      if (target.starts_with("http")) continue;
      const size_t hash = target.find('#');
      const std::string heading = hash == std::string::npos ? "" : target.substr(hash + 1);
      target.resize(std::min(hash, target.size()));
      const fs::path file = target.empty() ? page : page.parent_path() / target;
      ASSERT_TRUE(fs::exists(file)) << page << " links to " << target;
      if (heading.empty()) continue;
      // As GitHub names them: small letters, hyphens for spaces, no punctuation.
      std::set<std::string> headings;
      std::istringstream lines(ReadFile(file));
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("#")) continue;
        std::string name;
        for (const char c : line.substr(line.find(' ') + 1)) {
          if (c == ' ') name += '-';
          if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_') {
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
          }
        }
        headings.insert(name);
      }
      EXPECT_TRUE(headings.contains(heading)) << page << " links to " << (*at)[1];
    }
  }
}

}  // namespace
}  // namespace agentr
