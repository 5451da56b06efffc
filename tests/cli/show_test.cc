// The programs that show results: tree_show on a terminal, agent_report, and --report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "common/file.h"
#include "mcts/tree_folder.h"
#include "tests/cli/program.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// bin/NAME on a pseudo terminal of 30 lines.
class OnTerminal {
 public:
  OnTerminal(const std::string& name, const std::string& argument) {
    winsize size{};
    size.ws_row = 30;
    size.ws_col = 100;
    pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      const std::string path = std::string(AGENTR_BIN_DIR) + "/" + name;
      ::execl(path.c_str(), path.c_str(), argument.c_str(), nullptr);
      ::_exit(127);
    }
  }
  ~OnTerminal() {
    if (fd_ >= 0) ::close(fd_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  // False where the machine has no pseudo terminals, as in a chroot without devpts.
  bool opened() const { return pid_ >= 0; }

  void Type(const std::string& keys) {
    ASSERT_EQ(::write(fd_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  // What was shown until `text` came, or the end.
  std::string ReadUntil(const std::string& text) {
    std::string seen;
    std::array<char, 4096> part{};
    while (seen.find(text) == std::string::npos) {
      const ssize_t count = ::read(fd_, part.data(), part.size());
      if (count <= 0) break;
      seen.append(part.data(), static_cast<size_t>(count));
    }
    return seen;
  }

  int Wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
};

class ShowTest : public ::testing::Test {
 protected:
  ShowTest() {
    collected_ = RunProgram(
        "mcts_collect",
        {"--task", "textcraft", "--min", "31", "--max", "33", "--report", "collected.html"},
        folder_.path());
  }
  std::string TreeFile() const {
    return (folder_.path() / "mcts_result/textcraft/planner/search_results_31.json").string();
  }

  ScratchFolder folder_;
  Outcome collected_;
};

TEST_F(ShowTest, OneWalksInATreeOnATerminal) {
  OnTerminal terminal("tree_show", TreeFile());
  if (!terminal.opened()) GTEST_SKIP() << "no pseudo terminal: mount devpts at /dev/pts";
  EXPECT_THAT(terminal.ReadUntil("START"), HasSubstr("textcraft task 31"));
  terminal.Type("\x1b[B");
  EXPECT_THAT(terminal.ReadUntil("Action: "), HasSubstr("\x1b[7m"));
  terminal.Type("q");
  EXPECT_THAT(terminal.ReadUntil("\x1b[?1049l"), HasSubstr("\x1b[?25h")) << "the cursor is back";
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(ShowTest, WithoutATerminalTheTreeIsPrinted) {
  const Outcome shown = RunProgram("tree_show", {TreeFile()}, folder_.path());
  EXPECT_EQ(shown.exit, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("Each line: visits"), HasSubstr("ROOT")));
}

TEST_F(ShowTest, AProgramWritesItsReport) {
  EXPECT_EQ(collected_.exit, 0) << collected_.err;
  const std::string page = ReadFile(folder_.path() / "collected.html");
  EXPECT_THAT(page, HasSubstr("mcts_result/textcraft/planner"));
  const Outcome again =
      RunProgram("agent_report", {"mcts_result", "--output", "again.html"}, folder_.path());
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(ReadFile(folder_.path() / "again.html"), page);
}

TEST_F(ShowTest, TheReportOptionIsOfOneRunOnly) {
  const std::string toml = ReadFile(folder_.path() / "mcts_result/textcraft/planner/resolved.toml");
  EXPECT_EQ(toml.find("collected.html"), std::string::npos) << toml;
}

// The results of the job are there, which a script that stops at a failure would not use.
TEST_F(ShowTest, AReportThatFailsIsNoFailureOfTheJob) {
  const Outcome outcome =
      RunProgram("mcts_collect",
                 {"--task", "textcraft", "--min", "31", "--max", "33", "--report", "mcts_result"},
                 folder_.path());
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("--report: "));
}

TEST_F(ShowTest, ResultsInADatabaseHaveNoReport) {
  const Outcome outcome = RunProgram(
      "mcts_collect", {"--store", "postgresql://nowhere.invalid/x", "--report", "page.html"},
      folder_.path());
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, HasSubstr("leave one of the two out"));
}

TEST_F(ShowTest, AFolderWithoutResultsIsAnError) {
  std::filesystem::create_directory(folder_.path() / "empty");
  const Outcome none = RunProgram("agent_report", {"empty"}, folder_.path());
  EXPECT_EQ(none.exit, 3);
  EXPECT_THAT(none.err, HasSubstr("nothing to report in empty"));
}

}  // namespace
}  // namespace agentr
