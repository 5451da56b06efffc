// How ranks meet, with threads as ranks and a store in memory.
#include "training/distributed/meeting.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "common/error.h"
#include "tests/training/distributed/shared_keys.h"

namespace agentr {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class MeetingTest : public ::testing::Test {
 protected:
  // The messages with which ranks ended, by rank; "" for those that met. `prints`: of the ranks
  // that come.
  std::map<int, std::string> MeetAll(int size, const std::map<int, JobFingerprint>& prints,
                                     milliseconds most) {
    std::map<int, std::string> messages;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (const auto& [rank, print] : prints) {
      threads.emplace_back([&, rank = rank, print = print] {
        SharedKeys store(shared_);
        const MeetingTimes times = {.most = most};
        Patience patience(times, [](const std::string& message) { FAIL() << message; });
        std::string message;
        try {
          Meet(store, PlaceOf(rank, size), print, times, patience);
        } catch (const FatalError& error) {
          message = fmt::format("{}: {}", static_cast<int>(error.code()), error.what());
        }
        const std::lock_guard lock(mutex);
        messages[rank] = message;
      });
    }
    for (std::thread& thread : threads) thread.join();
    return messages;
  }
  static Place PlaceOf(int rank, int size) {
    return {.rank = rank, .size = size, .host = "node1", .port = 29500};
  }

  const std::shared_ptr<SharedStore> shared_ = std::make_shared<SharedStore>();
  const JobFingerprint fingerprint_ = {{"--lr", "0.003", ""}, {"--seed", "0", ""}};
};

TEST_F(MeetingTest, ThoseThatAreAlikeMeet) {
  for (const auto& [rank, message] : MeetAll(
           3, {{0, fingerprint_}, {1, fingerprint_}, {2, fingerprint_}}, milliseconds(30'000))) {
    EXPECT_EQ(message, "") << rank;
  }
}

TEST_F(MeetingTest, OneThatDiffersIsNamedByAll) {
  JobFingerprint other = fingerprint_;
  other[0].value = "0.001";
  const auto messages =
      MeetAll(3, {{0, fingerprint_}, {1, fingerprint_}, {2, other}}, milliseconds(30'000));
  ASSERT_EQ(messages.size(), 3u);
  for (const auto& [rank, message] : messages) {
    EXPECT_THAT(message, AllOf(HasSubstr("2: the processes of the job"),
                               HasSubstr("rank 2 has --lr 0.001, rank 0 has 0.003")))
        << rank;
  }
}

// It need not wait for those that never come.
TEST_F(MeetingTest, ADifferenceIsSaidBeforeAllAreThere) {
  const auto messages = MeetAll(4, {{0, fingerprint_}, {2, {}}}, milliseconds(20'000));
  EXPECT_THAT(messages.at(0), HasSubstr("rank 2 has --lr nothing, rank 0 has 0.003"));
  EXPECT_EQ(messages.at(2), messages.at(0));
}

TEST_F(MeetingTest, ThoseThatDoNotComeAreNamed) {
  const auto messages = MeetAll(4, {{0, fingerprint_}, {2, fingerprint_}}, milliseconds(300));
  ASSERT_EQ(messages.size(), 2u);
  for (const auto& [rank, message] : messages) {
    EXPECT_THAT(message, AllOf(HasSubstr("4: after 0.3 s 2 of the job's 4 processes have not come "
                                         "to node1:29500: rank 1, 3"),
                               HasSubstr("--meet_timeout")))
        << rank;
  }
}

TEST_F(MeetingTest, ASecondProcessOfARankIsRefused) {
  SharedKeys(shared_).Set("process/1", "process 5 on node9");
  const auto messages = MeetAll(2, {{0, fingerprint_}, {1, fingerprint_}}, milliseconds(300));
  EXPECT_THAT(messages.at(1),
              HasSubstr("2: rank 1 of the job is already there: process 5 on node9"));
}

TEST(Patience, EndsACallThatDoesNotReturn) {
  const MeetingTimes times = {
      .most = milliseconds(100), .say = milliseconds(20), .grace = milliseconds(100)};
  std::mutex mutex;
  std::string message;
  Patience patience(times, [&](const std::string& m) {
    const std::lock_guard lock(mutex);
    message = m;
  });
  const auto now = [&] {
    const std::lock_guard lock(mutex);
    return message;
  };
  std::this_thread::sleep_for(milliseconds(400));
  EXPECT_EQ(now(), "") << "it waits for nobody";
  ::testing::internal::CaptureStdout();  // where the log goes in a test
  patience.WaitFor("rank 1", /*anew=*/true);
  for (int i = 0; i < 1000 && now().empty(); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_THAT(now(), HasSubstr("rank 1 has not answered for 0.1 s"));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("waiting for rank 1 (for at most 0.1 s"));
}

}  // namespace
}  // namespace agentr
