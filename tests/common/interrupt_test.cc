#include "common/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <limits>

#include "common/error.h"

namespace agentr {
namespace {

TEST(StopTime, BeginsWhenTheFlagIsNoticed) {
  std::atomic<bool> stop = false;
  StopTime never(stop, 0), at_once(stop, 0), later(stop, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(never.Passed());
  stop = true;
  EXPECT_TRUE(at_once.Passed());
  EXPECT_FALSE(later.Passed());
}

// How a child process ends that runs `body`: its exit code, or 128 + the signal.
template <typename Body>
int EndOf(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(STDERR_FILENO);
    body();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Signals, TheFirstOneOnlySetsTheFlag) {
  EXPECT_EQ(EndOf([] {
              const std::atomic<bool>& stop = StopOnSignal();
              std::raise(SIGTERM);
              ::_exit(stop && Interrupted() ? 7 : 8);
            }),
            7);
}

// Ctrl-C, and then systemd: the second signal counts, of whichever kind it is.
TEST(Signals, TheSecondOneOfEitherKindEndsTheProcess) {
  for (const int first : {SIGINT, SIGTERM}) {
    for (const int second : {SIGINT, SIGTERM}) {
      EXPECT_EQ(EndOf([&] {
                  StopOnSignal();
                  std::raise(first);
                  std::raise(second);
                }),
                128 + second);
    }
  }
}

// In self_train every stage is a job that asks for the flag.
TEST(Signals, AJobThatBeginsAfterTheFirstDoesNotTakeTheSecond) {
  EXPECT_EQ(EndOf([] {
              StopOnSignal();
              std::raise(SIGTERM);
              StopOnSignal();
              std::raise(SIGTERM);
            }),
            128 + SIGTERM);
}

TEST(Signals, AServerWaitsForTheFirst) {
  EXPECT_EQ(EndOf([] {
              StopOnSignal();
              std::raise(SIGTERM);
              WaitForSignal();
              ::_exit(7);
            }),
            7);
}

TEST(Signals, NothingOutlivesItsLastTime) {
  EXPECT_EQ(EndOf([] {
              EndAtLatestIn(std::chrono::milliseconds(1), ExitCode::kIncomplete);
              while (true) ::pause();
            }),
            1);
}

}  // namespace
}  // namespace agentr
