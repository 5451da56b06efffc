#include "lm/engine/prefix_cache.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/random.h"
#include "lm/decoder/fake_decoder.h"

namespace agentr {
namespace {

using Tokens = std::vector<int32_t>;
using testing::ElementsAre;

constexpr int32_t kBlockTokens = 4;

DecoderShape Pool(int32_t blocks) {
  return {.vocab_size = 8,
          .max_context = 1000,
          .block_tokens = kBlockTokens,
          .blocks = blocks,
          .block_bytes = 1};
}

// A cache, its decoder, and what sequences do with them.
class Pair {
 public:
  explicit Pair(int32_t blocks, bool keep = true) : decoder(Pool(blocks)), cache(decoder, keep) {}

  // Computes what `table` lacks of `tokens`; false where memory is short.
  bool Compute(PrefixCache::BlockTable& table, const Tokens& tokens) {
    if (!cache.Reserve(table, static_cast<int32_t>(tokens.size()))) return false;
    const auto start = static_cast<size_t>(table.tokens());
    const SequenceChunk chunk{std::span(tokens).subspan(start), table.tokens(), table.blocks(), 0};
    decoder.Forward(std::span(&chunk, 1));
    cache.Commit(table, tokens);
    return true;
  }

  // A whole sequence, done at once; the number of tokens that were cached.
  int32_t Run(const Tokens& tokens, uint64_t scope = 0) {
    PrefixCache::BlockTable table(scope);
    cache.Match(table, tokens);
    const int32_t cached = table.tokens();
    if (cached < static_cast<int32_t>(tokens.size())) Compute(table, tokens);
    cache.Release(table);
    return cached;
  }

  // The tokens that stand where `table` says.
  Tokens Contents(const PrefixCache::BlockTable& table) const {
    Tokens tokens;
    for (int32_t i = 0; i < table.tokens(); ++i) {
      const int32_t block = table.blocks()[static_cast<size_t>(i / kBlockTokens)];
      tokens.push_back(decoder.At(block, i % kBlockTokens));
    }
    return tokens;
  }

  FakeDecoder decoder;
  PrefixCache cache;
};

TEST(PrefixCache, MatchesToTheToken) {
  Pair pair(16);
  EXPECT_EQ(pair.Run({1, 2, 3, 4, 5, 6}), 0);
  EXPECT_EQ(pair.cache.Find(0, Tokens{1, 2, 3, 4, 5, 6, 7, 7, 7}).tokens, 6);
  EXPECT_EQ(pair.cache.Find(0, Tokens{1, 2, 3, 4, 5, 7}).tokens, 5);
  EXPECT_EQ(pair.cache.Find(0, Tokens{1, 2, 3, 4}).tokens, 4);
  EXPECT_EQ(pair.cache.Find(0, Tokens{1, 2, 7}).tokens, 2);
  EXPECT_EQ(pair.cache.Find(0, Tokens{7}).tokens, 0);
  EXPECT_EQ(pair.cache.Find(0, Tokens{}).tokens, 0);
  EXPECT_EQ(pair.cache.Find(1, Tokens{1, 2}).tokens, 0);
}

TEST(PrefixCache, SharesFullBlocksAndCopiesTheRest) {
  Pair pair(16);
  pair.Run({1, 2, 3, 4, 5, 6});
  PrefixCache::BlockTable a;
  PrefixCache::BlockTable b;
  pair.cache.Match(a, Tokens{1, 2, 3, 4, 5, 6, 7});
  pair.cache.Match(b, Tokens{1, 2, 3, 4, 5, 6, 0});
  EXPECT_EQ(a.blocks()[0], b.blocks()[0]);
  EXPECT_NE(a.blocks()[1], b.blocks()[1]);
  EXPECT_EQ(pair.decoder.copies(), 2);
  ASSERT_TRUE(pair.Compute(a, {1, 2, 3, 4, 5, 6, 7}));
  ASSERT_TRUE(pair.Compute(b, {1, 2, 3, 4, 5, 6, 0}));
  EXPECT_THAT(pair.Contents(a), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(pair.Contents(b), ElementsAre(1, 2, 3, 4, 5, 6, 0));
  EXPECT_EQ(pair.cache.in_use(), 3);  // {1 2 3 4}, {5 6 7}, {5 6 0}; {5 6} has become needless
  pair.cache.Release(a);
  pair.cache.Release(b);
}

TEST(PrefixCache, WhatARunningSequenceComputesCanBeMatched) {
  Pair pair(16);
  PrefixCache::BlockTable running;
  ASSERT_TRUE(pair.Compute(running, {1, 2, 3, 4, 5}));
  EXPECT_EQ(pair.cache.Find(0, Tokens{1, 2, 3, 4, 5, 6}).tokens, 5);
  ASSERT_TRUE(pair.Compute(running, {1, 2, 3, 4, 5, 6}));
  PrefixCache::BlockTable other;
  pair.cache.Match(other, Tokens{1, 2, 3, 4, 5, 6, 7});
  ASSERT_TRUE(pair.Compute(running, {1, 2, 3, 4, 5, 6, 0, 0, 0}));
  EXPECT_THAT(pair.Contents(other), ElementsAre(1, 2, 3, 4, 5, 6));
  pair.cache.Release(running);
  pair.cache.Release(other);
}

TEST(PrefixCache, EqualHistoriesEndInOneBlock) {
  Pair pair(16);
  PrefixCache::BlockTable a;
  PrefixCache::BlockTable b;
  ASSERT_TRUE(pair.Compute(a, {1, 2, 3}));
  ASSERT_TRUE(pair.Compute(b, {1, 2, 3}));
  EXPECT_NE(a.blocks()[0], b.blocks()[0]);
  ASSERT_TRUE(pair.Compute(a, {1, 2, 3, 4, 5}));
  ASSERT_TRUE(pair.Compute(b, {1, 2, 3, 4, 5}));
  EXPECT_EQ(a.blocks()[0], b.blocks()[0]);
  EXPECT_EQ(pair.cache.in_use(), 3);  // {1 2 3 4}, and of each a block with 5
  pair.cache.Release(a);
  pair.cache.Release(b);
  EXPECT_EQ(pair.cache.in_use(), 2);
}

TEST(PrefixCache, EvictsTheLeafThatWasLetGoOfLongestAgo) {
  Pair pair(4);
  pair.Run({1, 1, 1, 1, 2, 2, 2, 2});
  pair.Run({3, 3, 3, 3});
  pair.Run({1, 1, 1, 1, 2, 2, 2, 2});  // now {3 3 3 3} is the oldest
  pair.Run({4, 4, 4, 4, 5, 5, 5, 5});
  EXPECT_EQ(pair.cache.evicted(), 1);
  EXPECT_EQ(pair.cache.Find(0, Tokens{3}).tokens, 0);
  EXPECT_EQ(pair.cache.Find(0, Tokens{1, 1, 1, 1, 2, 2, 2, 2}).tokens, 8);
  pair.Run({6});  // the leaf of the oldest path, not its root
  EXPECT_EQ(pair.cache.Find(0, Tokens{1, 1, 1, 1, 2, 2, 2, 2}).tokens, 4);
}

TEST(PrefixCache, DoesNotEvictWhatASequenceHolds) {
  Pair pair(3);
  PrefixCache::BlockTable table;
  ASSERT_TRUE(pair.Compute(table, {1, 1, 1, 1, 2}));
  EXPECT_EQ(pair.cache.available(), 1);
  PrefixCache::BlockTable other;
  EXPECT_FALSE(pair.cache.Reserve(other, 5));
  EXPECT_TRUE(other.blocks().empty());
  EXPECT_TRUE(pair.Compute(other, {3, 3, 3, 3}));
  EXPECT_THAT(pair.Contents(table), ElementsAre(1, 1, 1, 1, 2));
  pair.cache.Release(other);
  pair.cache.Release(table);
  EXPECT_EQ(pair.cache.available(), 3);
}

TEST(PrefixCache, ComputesAgainWhereThereIsNoBlockForACopy) {
  Pair pair(1);
  pair.Run({1, 2, 3});
  EXPECT_EQ(pair.Run({1, 2, 0}), 0);
  EXPECT_EQ(pair.cache.Find(0, Tokens{1, 2, 0}).tokens, 3);
}

TEST(PrefixCache, ACopyThatFailsLeavesAValidTable) {
  Pair pair(4);
  pair.Run({1, 2, 3});
  pair.decoder.before_copy = [] { throw std::runtime_error("no copy"); };
  PrefixCache::BlockTable table;
  EXPECT_THROW(pair.cache.Match(table, Tokens{1, 2}), std::runtime_error);
  pair.cache.Release(table);
  EXPECT_EQ(pair.cache.in_use(), 1);
}

TEST(PrefixCache, WithoutKeepingOnlyHeldBlocksStay) {
  Pair pair(8, /*keep=*/false);
  PrefixCache::BlockTable a(7);
  ASSERT_TRUE(pair.Compute(a, {1, 2, 3, 4, 5}));
  EXPECT_EQ(pair.Run({1, 2, 3, 4, 5, 6}, 7), 5);
  EXPECT_EQ(pair.Run({1, 2, 3, 4, 5, 6}, 8), 0);
  EXPECT_EQ(pair.cache.in_use(), 2);
  pair.cache.Release(a);
  EXPECT_EQ(pair.cache.in_use(), 0);
}

// Random sequences begin, grow and end; the model of the cache is the plain map from each table to
// its history, and the set of all histories that were ever computed.
class RandomRun {
 public:
  RandomRun(uint64_t seed, int32_t blocks, bool keep)
      : random_(seed), pair_(blocks, keep), blocks_(blocks) {}

  void Step() {
    const uint64_t choice = random_.Below(10);
    if (running_.empty() || (choice < 2 && running_.size() < 6)) {
      Begin();
    } else if (choice < 4) {
      End(random_.Below(running_.size()));
    } else {
      Grow(running_[random_.Below(running_.size())]);
    }
    CheckAll();
  }

  void Finish() {
    while (!running_.empty()) End(0);
    EXPECT_EQ(pair_.cache.available(), blocks_);
    EXPECT_GT(matched_, 0);
  }

  int64_t evicted() const { return pair_.cache.evicted(); }

 private:
  struct Running {
    PrefixCache::BlockTable table;
    Tokens history;
  };

  Tokens RandomTokens(uint64_t length) {
    Tokens tokens;
    for (uint64_t i = 0; i < length; ++i) tokens.push_back(static_cast<int32_t>(random_.Below(2)));
    return tokens;
  }

  void Begin() {
    const Tokens wanted = RandomTokens(random_.Below(14));
    const PrefixCache::Prefix found = pair_.cache.Find(0, wanted);
    const int32_t available = pair_.cache.available();
    Running running;
    pair_.cache.Match(running.table, wanted);
    const int32_t cached = running.table.tokens();
    ASSERT_LE(cached, found.tokens);
    ASSERT_GE(cached, found.blocks * kBlockTokens);
    if (cached == found.tokens) {
      const bool copied = cached % kBlockTokens > 0;
      ASSERT_EQ(pair_.cache.available(), available - found.pinning - copied);
    }
    running.history.assign(wanted.begin(), wanted.begin() + cached);
    ASSERT_TRUE(cached == 0 || computed_.count(running.history) == 1);
    matched_ += cached;
    running_.push_back(std::move(running));
  }

  void Grow(Running& running) {
    Tokens longer = running.history;
    for (const int32_t token : RandomTokens(1 + random_.Below(6))) longer.push_back(token);
    if (!pair_.Compute(running.table, longer)) {
      const auto needed = (longer.size() + kBlockTokens - 1) / kBlockTokens;
      ASSERT_GT(static_cast<int32_t>(needed - running.table.blocks().size()),
                pair_.cache.available());
      return;
    }
    running.history = longer;
    ASSERT_EQ(pair_.cache.Find(0, longer).tokens, static_cast<int32_t>(longer.size()));
    for (size_t length = 1; length <= longer.size(); ++length) {
      computed_.insert(
          Tokens(longer.begin(), longer.begin() + static_cast<std::ptrdiff_t>(length)));
    }
  }

  void End(size_t index) {
    pair_.cache.Release(running_[index].table);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void CheckAll() {
    for (const Running& running : running_) {
      ASSERT_EQ(pair_.Contents(running.table), running.history);
    }
    ASSERT_LE(pair_.cache.in_use(), blocks_);
    ASSERT_GE(pair_.cache.available(), blocks_ - pair_.cache.in_use());
  }

  RandomStream random_;
  Pair pair_;
  const int32_t blocks_;
  std::vector<Running> running_;
  std::set<Tokens> computed_;
  int64_t matched_ = 0;
};

TEST(PrefixCache, RandomSequencesReadTheirOwnHistory) {
  int64_t evicted = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun run(seed, 6 + static_cast<int32_t>(seed), seed % 3 > 0);
    for (int step = 0; step < 600 && !::testing::Test::HasFatalFailure(); ++step) run.Step();
    run.Finish();
    evicted += run.evicted();
  }
  EXPECT_GT(evicted, 100);
}

}  // namespace
}  // namespace agentr
