#include "rollout/session_pool.h"

#include <gtest/gtest.h>

#include <deque>
#include <latch>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/random.h"
#include "tests/mcts/toy_environment.h"

namespace agentr {
namespace {

using Place = SessionPool::Place;
using Op = ToyEnvironment::Op;

class SessionPoolTest : public ::testing::Test {
 protected:
  static SessionPool::Lease Take(SessionPool& pool, int64_t tree, const std::vector<int>& path,
                                 const std::atomic<bool>& stop) {
    auto lease = pool.Acquire(tree, path, stop);
    EXPECT_TRUE(lease) << lease.error().message;
    return std::move(*lease);
  }

  SessionPool::Lease Take(SessionPool& pool, int64_t tree, const std::vector<int>& path) {
    return Take(pool, tree, path, stop_);
  }

  struct Idle {
    Place place;
    bool spent = false;
  };

  // Opens a session for each of `idle` and gives them back in this order; the sessions.
  std::vector<Session*> Fill(SessionPool& pool, const std::vector<Idle>& idle) {
    std::deque<SessionPool::Lease> leases;
    std::vector<Session*> sessions;
    for (const Idle& wanted : idle) {
      leases.push_back(Take(pool, /*tree=*/100, {0}));
      leases.back().place = wanted.place;
      leases.back().spent = wanted.spent;
      sessions.push_back(&leases.back().session());
    }
    while (!leases.empty()) leases.pop_front();
    return sessions;
  }

  ToyEnvironment world_;
  std::atomic<bool> stop_ = false;
};

TEST_F(SessionPoolTest, HandsOutInTheOrderOfItsHeader) {
  SessionPool pool(world_, 7);
  const std::vector<Session*> sessions = Fill(pool, {{{1, 4}},        // another place of the tree
                                                     {{2, 3}},        // another tree
                                                     {{1, 9}, true},  // an ended leaf
                                                     {{1, 0}},        // ancestor
                                                     {{1, 3}},        // nearer ancestor
                                                     {{1, 5}}});      // there
  const std::vector<int> path = {0, 3, 5};
  std::vector<SessionPool::Lease> held;
  const auto next = [&] {
    held.push_back(Take(pool, 1, path));
    return &held.back().session();
  };
  EXPECT_EQ(next(), sessions[5]) << "stands there";
  EXPECT_EQ(next(), sessions[4]) << "nearest ancestor";
  EXPECT_EQ(next(), sessions[3]) << "ancestor";
  EXPECT_EQ(next(), sessions[2]) << "stands nowhere useful";
  EXPECT_EQ(pool.opened(), 6);
  next();
  EXPECT_EQ(pool.opened(), 7) << "a new one";
  EXPECT_EQ(held.back().place.tree, -1);
  EXPECT_EQ(next(), sessions[0]) << "longest unused";
  EXPECT_EQ(next(), sessions[1]);
}

TEST_F(SessionPoolTest, TellsWhereTheSessionStands) {
  SessionPool pool(world_, 1);
  Fill(pool, {{{1, 3}}});
  const SessionPool::Lease lease = Take(pool, 1, {0, 3, 4});
  EXPECT_EQ(lease.place.tree, 1);
  EXPECT_EQ(lease.place.state, 3);
}

TEST_F(SessionPoolTest, ASpentSessionThatStandsThereIsStillTheBest) {
  SessionPool pool(world_, 3);
  const auto sessions = Fill(pool, {{{-1, 0}}, {{1, 3}, true}});
  EXPECT_EQ(&Take(pool, 1, {0, 3}).session(), sessions[1]);
}

TEST_F(SessionPoolTest, PlacesOfOtherTreesAreNoAncestors) {
  SessionPool pool(world_, 2);
  const auto sessions = Fill(pool, {{{2, 0}}});
  EXPECT_NE(&Take(pool, 1, {0}).session(), sessions[0]);
}

TEST_F(SessionPoolTest, AmongUselessSessionsTheLongestUnusedGoesFirst) {
  SessionPool pool(world_, 4);
  const auto sessions = Fill(pool, {{{1, 8}, true}, {{-1, 0}}, {{1, 9}, true}});
  const auto first = Take(pool, 1, {0});
  const auto second = Take(pool, 1, {0});
  EXPECT_EQ(&first.session(), sessions[0]);
  EXPECT_EQ(&second.session(), sessions[1]);
}

TEST_F(SessionPoolTest, RetiredTreesFreeTheirSessions) {
  SessionPool pool(world_, 3);
  const auto sessions = Fill(pool, {{{2, 4}}, {{1, 4}}});
  pool.Retire(1);
  EXPECT_EQ(&Take(pool, 3, {0}).session(), sessions[1]) << "before one is opened";
  EXPECT_EQ(pool.opened(), 2);
}

TEST_F(SessionPoolTest, WithoutALimitTheEnvironmentDecides) {
  struct : ToyEnvironment {
    int DefaultSessions() const override { return 1; }
  } small_world;
  SessionPool pool(small_world, 0);
  const auto held = Take(pool, 1, {0});
  std::thread waiter([&] { EXPECT_FALSE(pool.Acquire(1, std::vector<int>{0}, stop_)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stop_ = true;
  waiter.join();
  EXPECT_EQ(small_world.counts.opens, 1);
}

TEST_F(SessionPoolTest, TreeNumbersAreDistinct) {
  SessionPool pool(world_, 1);
  std::vector<std::vector<int64_t>> numbers(4);
  {
    std::vector<std::jthread> threads;
    for (auto& of_thread : numbers) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10000; ++i) of_thread.push_back(pool.NewTree());
      });
    }
  }
  std::set<int64_t> all;
  for (const auto& of_thread : numbers) all.insert(of_thread.begin(), of_thread.end());
  EXPECT_EQ(all.size(), 40000U);
  EXPECT_GE(*all.begin(), 0) << "a tree that a session of none belongs to";
}

TEST_F(SessionPoolTest, WaitsForASessionAtTheLimit) {
  SessionPool pool(world_, 1);
  std::optional<SessionPool::Lease> held(Take(pool, 1, {0}));
  std::atomic<bool> got = false;
  std::thread waiter([&] {
    const auto lease = Take(pool, 1, {0}, stop_);
    got = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(got);
  held.reset();
  waiter.join();
  EXPECT_TRUE(got);
  EXPECT_EQ(world_.counts.opens, 1);
}

TEST_F(SessionPoolTest, StopEndsTheWaiting) {
  SessionPool pool(world_, 1);
  const auto held = Take(pool, 1, {0});
  std::optional<ErrorKind> kind;
  std::thread waiter([&] {
    const auto lease = pool.Acquire(1, std::vector<int>{0}, stop_);
    if (!lease) kind = lease.error().kind;
  });
  stop_ = true;
  waiter.join();
  EXPECT_EQ(kind, ErrorKind::kCancelled);
}

TEST_F(SessionPoolTest, AFailedOpenIsAnErrorAndTakesNoPlace) {
  SessionPool pool(world_, 1);
  world_.fault = FailCalls(ErrorKind::kRateLimited, [](const ToyEnvironment::Call& call) {
    return call.op == Op::kOpen && call.number <= 2;
  });
  for (int i = 0; i < 2; ++i) {
    const auto lease = pool.Acquire(1, std::vector<int>{0}, stop_);
    ASSERT_FALSE(lease);
    EXPECT_EQ(lease.error().kind, ErrorKind::kRateLimited);
  }
  EXPECT_EQ(Take(pool, 1, {0}).place.tree, -1);
  EXPECT_EQ(pool.opened(), 1);
}

TEST_F(SessionPoolTest, AnIdleSessionGoesBeforeOneThatCouldNotBeOpened) {
  SessionPool pool(world_, 2);
  world_.fault = FailCalls(ErrorKind::kRateLimited, [](const ToyEnvironment::Call& call) {
    return call.op == Op::kOpen && call.number == 2;
  });
  {
    const auto lease = Take(pool, 1, {0});
    EXPECT_FALSE(pool.Acquire(1, std::vector<int>{0}, stop_));
  }
  Take(pool, 1, {0});
  Take(pool, 1, {0});
  EXPECT_EQ(world_.counts.opens, 2) << "the idle session was enough";
}

TEST_F(SessionPoolTest, ClosesItsSessions) {
  {
    SessionPool pool(world_, 3);
    Fill(pool, {{{1, 0}}, {{1, 1}}, {{1, 2}}});
    EXPECT_EQ(world_.counts.live, 3);
  }
  EXPECT_EQ(world_.counts.live, 0);
}

TEST_F(SessionPoolTest, ManyThreadsNeverShareASession) {
  constexpr int kLimit = 3;
  SessionPool pool(world_, kLimit);
  world_.fault = RandomFaults(Op::kOpen, 0.3, 1);
  std::vector<std::thread> threads;
  std::atomic<int> served = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      RandomStream random(static_cast<uint64_t>(t));
      for (int i = 0; i < 200; ++i) {
        const auto tree = static_cast<int64_t>(random.Below(4));
        auto lease =
            pool.Acquire(tree, std::vector<int>{0, 1 + static_cast<int>(random.Below(3))}, stop_);
        if (!lease) continue;
        // The toy world counts two calls at once in one session as misuse.
        EXPECT_TRUE(lease->session().Reset(t));
        std::this_thread::yield();
        EXPECT_TRUE(lease->session().Step("go"));
        lease->place = {tree, static_cast<int>(random.Below(4))};
        lease->spent = random.Chance(0.2);
        ++served;
        if (random.Chance(0.05)) pool.Retire(tree);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(served, 1500);
  EXPECT_EQ(world_.counts.misuses, 0);
  EXPECT_LE(world_.counts.most_live, kLimit);
}

// Sessions whose ends, but for the first one's, wait for each other: one after the other, they
// would hang.
class JointEnds : public Environment {
 public:
  explicit JointEnds(int sessions) : ended_(sessions - 1) {}
  Result<std::unique_ptr<Session>> Open() override {
    return std::make_unique<Joint>(opened_++ == 0 ? nullptr : &ended_);
  }
  bool CanExpand() const override { return false; }

 private:
  struct Joint : Session {
    explicit Joint(std::latch* latch) : ended(latch) {}
    ~Joint() override {
      if (ended != nullptr) ended->arrive_and_wait();
    }
    Result<std::string> Reset(int) override { return ""; }
    Result<StepResult> Step(std::string_view) override { return StepResult{}; }
    Result<std::vector<Fork>> Expand(const std::vector<std::string>&) override {
      return Fail(ErrorKind::kRejected, "no forks");
    }
    std::latch* ended;
  };

  int opened_ = 0;
  std::latch ended_;
};

TEST_F(SessionPoolTest, ClosesAllSessionsButTheFirstAtOnce) {
  JointEnds world(8);
  SessionPool pool(world, 8);
  Fill(pool, std::vector<Idle>(8, Idle{{1, 0}}));
  EXPECT_EQ(pool.opened(), 8);
}

}  // namespace
}  // namespace agentr
