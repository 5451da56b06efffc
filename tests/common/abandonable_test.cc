#include "common/abandonable.h"

#include <gtest/gtest.h>

#include <memory>
#include <semaphore>

namespace agentr {
namespace {

TEST(WaitUnless, ReturnsWhatTheCallReturns) {
  EXPECT_EQ(WaitUnless<int>([] { return 7; }, [] { return false; }), 7);
  const auto owned = WaitUnless<std::unique_ptr<int>>([] { return std::make_unique<int>(8); },
                                                      [] { return false; });
  ASSERT_TRUE(owned);
  EXPECT_EQ(**owned, 8);
}

// The call blocks until the caller has left, and then makes something that nobody takes.
TEST(WaitUnless, LeavesACallBehindThatBlocks) {
  const auto blocked = std::make_shared<std::binary_semaphore>(0);
  const auto destroyed = std::make_shared<std::binary_semaphore>(0);
  struct Result {
    std::shared_ptr<std::binary_semaphore> destroyed;
    Result(std::shared_ptr<std::binary_semaphore> s) : destroyed(std::move(s)) {}
    Result(Result&&) = default;
    Result& operator=(Result&&) = default;
    ~Result() {
      if (destroyed) destroyed->release();
    }
  };
  const auto result = WaitUnless<Result>(
      [blocked, destroyed] {
        blocked->acquire();
        return Result(destroyed);
      },
      [] { return true; });
  EXPECT_FALSE(result);
  blocked->release();
  destroyed->acquire();  // would wait for ever if the result lived on
}

}  // namespace
}  // namespace agentr
