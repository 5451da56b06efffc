#include "training/distributed/liveness.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/training/distributed/shared_keys.h"

namespace agentr {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LivenessTest : public ::testing::Test {
 protected:
  LivenessTest() {
    for (int rank = 0; rank < 3; ++rank) {
      ranks_.push_back(
          std::make_unique<Liveness>(std::make_unique<SharedKeys>(shared_), rank, 3, options_,
                                     [this, rank](const std::string& m, ExitCode code) {
                                       const std::lock_guard lock(mutex_);
                                       messages_[rank] = m;
                                       codes_[rank] = code;
                                     }));
    }
  }
  ~LivenessTest() override { shared_->stuck = false; }

  // What each rank has ended with, as soon as `ranks` of them have, or after a while.
  std::map<int, std::string> Messages(size_t ranks) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (messages_.size() >= ranks) return messages_;
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
    const std::lock_guard lock(mutex_);
    return messages_;
  }

  const std::shared_ptr<SharedStore> shared_ = std::make_shared<SharedStore>();
  const LivenessOptions options_ = {
      .period = milliseconds(20), .silence = milliseconds(2000), .suspected = milliseconds(300)};
  std::mutex mutex_;
  std::map<int, std::string> messages_;
  std::map<int, ExitCode> codes_;
  std::vector<std::unique_ptr<Liveness>> ranks_;
};

TEST_F(LivenessTest, NobodyIsMissed) {
  ranks_[1]->Suspect();  // returns, though a collective has failed
  EXPECT_TRUE(Messages(0).empty());
}

TEST_F(LivenessTest, ASilentRankIsNamedByTheOthers) {
  ranks_[2].reset();
  const auto messages = Messages(2);
  ASSERT_EQ(messages.size(), 2u);
  for (const auto& [rank, message] : messages) {
    EXPECT_THAT(message, AllOf(HasSubstr("rank 2 (process "), HasSubstr("for 2 s"))) << rank;
  }
}

TEST_F(LivenessTest, SoonerWhenACollectiveHasFailed) {
  ranks_[2].reset();
  ranks_[1]->Suspect();
  const auto messages = Messages(2);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages.at(1), AllOf(HasSubstr("rank 2 (process "), HasSubstr("for 0 s")));
}

TEST_F(LivenessTest, WhoFailsTellsTheOthers) {
  ranks_[1]->Fail("no space left", ExitCode::kFile);
  ranks_[1].reset();
  const auto messages = Messages(2);
  ASSERT_EQ(messages.size(), 2u);
  for (const int rank : {0, 2}) {
    EXPECT_EQ(messages.at(rank), "rank 1 has ended: no space left");
    EXPECT_EQ(codes_.at(rank), ExitCode::kFile);
  }
}

TEST_F(LivenessTest, AStoreThatIsGoneIsRankZerosEnd) {
  shared_->gone = true;
  const auto messages = Messages(3);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_THAT(messages.at(1), AllOf(HasSubstr("rank 0, where"), HasSubstr("Connection reset")));
}

TEST_F(LivenessTest, AStuckStoreToo) {
  shared_->stuck = true;
  const auto messages = Messages(3);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_THAT(messages.at(2), AllOf(HasSubstr("rank 0, where"), HasSubstr("for 2 s")));
}

}  // namespace
}  // namespace agentr
