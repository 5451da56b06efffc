#include "servers/http/session_store.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>

namespace agentr {
namespace {

using ::testing::ElementsAre;

using Store = SessionStore<std::string>;

int64_t CreateNamed(Store& store, const std::string& name) {
  return store.Create([&](int64_t) { return name; }).value();
}

TEST(SessionStoreTest, IdsGrowAndAreNotUsedAgain) {
  Store store({});
  EXPECT_EQ(store.Create([](int64_t id) { return std::to_string(id); }), 0);
  EXPECT_EQ(CreateNamed(store, "b"), 1);
  EXPECT_TRUE(store.Close(1));
  EXPECT_EQ(CreateNamed(store, "c"), 2);
  EXPECT_EQ(*store.Find(0), "0");
  EXPECT_EQ(*store.Find(2), "c");
  EXPECT_FALSE(store.Find(1));
  EXPECT_FALSE(store.Find(-1));
}

TEST(SessionStoreTest, ClosesOnce) {
  Store store({});
  const int64_t id = CreateNamed(store, "a");
  EXPECT_TRUE(store.Close(id));
  EXPECT_FALSE(store.Close(id));
  EXPECT_FALSE(store.Close(77));
}

TEST(SessionStoreTest, ClosingEndsForksOfForks) {
  Store store({});
  const int64_t root = CreateNamed(store, "root");
  const auto forks = store.Fork(root, {"a", "b", "c"}).value();
  EXPECT_THAT(forks, ElementsAre(1, 2, 3));
  const auto deeper = store.Fork(forks[1], {"ba", "bb"}).value();
  EXPECT_EQ(*store.Find(deeper[1]), "bb");

  EXPECT_TRUE(store.Close(forks[1]));
  EXPECT_FALSE(store.Find(deeper[0]));
  EXPECT_FALSE(store.Find(deeper[1]));
  EXPECT_TRUE(store.Find(forks[0]));
  EXPECT_TRUE(store.Close(forks[0]));
  EXPECT_TRUE(store.Close(root));
  EXPECT_FALSE(store.Find(forks[2]));
  EXPECT_EQ(store.Counts().live, 0);
  EXPECT_EQ(store.Counts().closed, 6);
  EXPECT_EQ(store.Fork(root, {"late"}), std::nullopt);
}

TEST(SessionStoreTest, Limit) {
  Store store({.max_sessions = 3});
  const int64_t root = CreateNamed(store, "root");
  EXPECT_EQ(store.Fork(root, {"a", "b", "c"}), std::nullopt);
  EXPECT_TRUE(store.Fork(root, {"a", "b"}));
  EXPECT_EQ(store.Create([](int64_t) { return "d"; }), std::nullopt);
  store.Close(1);
  EXPECT_TRUE(store.Create([](int64_t) { return "d"; }));
}

TEST(SessionStoreTest, ExpiresWhatIsNotUsed) {
  double now = 100;
  Store store({.ttl_s = 10}, [&] { return now; });
  const int64_t used = CreateNamed(store, "used");
  const int64_t left = CreateNamed(store, "left");
  now = 109.9;
  EXPECT_TRUE(store.Find(used));
  now = 110;
  EXPECT_FALSE(store.Find(left));
  EXPECT_TRUE(store.Find(used));
  now = 120;
  EXPECT_FALSE(store.Close(used));
  EXPECT_EQ(store.Counts().expired, 2);
  EXPECT_EQ(store.Counts().live, 0);
}

TEST(SessionStoreTest, AUseOfAForkKeepsTheFamily) {
  double now = 0;
  Store store({.ttl_s = 10}, [&] { return now; });
  const int64_t root = CreateNamed(store, "root");
  const auto forks = store.Fork(root, {"a", "b"}).value();
  now = 9;
  EXPECT_TRUE(store.Find(forks[0]));
  now = 18;
  EXPECT_TRUE(store.Find(root));
  now = 28;
  EXPECT_FALSE(store.Find(forks[1]));
  EXPECT_EQ(store.Counts().expired, 3);
}

TEST(SessionStoreTest, ExpiryIsSpreadOverCalls) {
  double now = 0;
  Store store({.ttl_s = 10}, [&] { return now; });
  for (int i = 0; i < 100; ++i) CreateNamed(store, "old");
  now = 10;
  CreateNamed(store, "new");
  EXPECT_GT(store.Counts().live, 90);
  for (int i = 0; i < 100; ++i) CreateNamed(store, "new");
  EXPECT_EQ(store.Counts().live, 101);
  EXPECT_EQ(store.Counts().expired, 100);
}

TEST(SessionStoreTest, ASessionClosedWhileInUseStaysUsable) {
  Store store({});
  const int64_t id = CreateNamed(store, "a");
  auto use = store.Find(id);
  EXPECT_TRUE(store.Close(id));
  *use += "b";
  EXPECT_EQ(*use, "ab");
}

// Two uses of a session never overlap; the thread sanitizer watches, and no letter is lost.
TEST(SessionStoreTest, UsesTakeTurns) {
  Store store({});
  const int64_t id = CreateNamed(store, "");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        *store.Find(id) += 'x';
        const int64_t other = CreateNamed(store, "other");
        if (i % 2 == 0) store.Fork(other, {"fork"});
        store.Close(other);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store.Find(id)->size(), 8000);
  EXPECT_EQ(store.Counts().live, 1);
}

// A table that grew with the sessions that ever were would be seen by the address sanitizer's
// memory, and here by the counts.
TEST(SessionStoreTest, ManyComeAndGo) {
  Store store({.max_sessions = 2});
  for (int i = 0; i < 200'000; ++i) {
    const int64_t id = CreateNamed(store, "a");
    ASSERT_TRUE(store.Fork(id, {"b"}));
    ASSERT_TRUE(store.Close(id));
  }
  EXPECT_EQ(store.Counts().live, 0);
  EXPECT_EQ(store.Counts().created, 400'000);
}

}  // namespace
}  // namespace agentr
