#include "training/data/batch_builder.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <tuple>

#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using Ids = std::vector<int32_t>;
// The tokens before, the next token, its kind -> the sum of weights.
using Terms = std::map<std::tuple<Ids, int32_t, TargetKind>, double>;

Terms TermsOfRows(const std::vector<TrainingRow>& rows) {
  Terms terms;
  for (const TrainingRow& row : rows) {
    for (const TrainedSpan& span : row.trained) {
      for (int32_t i = span.begin; i < span.end; ++i) {
        terms[{Ids(row.ids.begin(), row.ids.begin() + i), row.ids[static_cast<size_t>(i)],
               span.kind}] += 1;
      }
    }
  }
  return terms;
}

size_t SegmentOf(const Batch& batch, int32_t index) {
  size_t segment = 0;
  while (batch.segments[segment].end <= index) ++segment;
  return segment;
}

// The tokens that a token attends to, by nothing but the segments.
Ids PathOf(const Batch& batch, int32_t index) {
  Ids path;
  auto segment = static_cast<int32_t>(SegmentOf(batch, index));
  for (int32_t end = index + 1; segment >= 0;) {
    const Segment& part = batch.segments[static_cast<size_t>(segment)];
    path.insert(path.begin(), batch.tokens.begin() + part.begin, batch.tokens.begin() + end);
    segment = part.parent;
    if (segment >= 0) end = batch.segments[static_cast<size_t>(segment)].end;
  }
  return path;
}

Terms TermsOfBatch(const Batch& batch) {
  Terms terms;
  for (const Target& target : batch.targets) {
    terms[{PathOf(batch, target.index), target.token, target.kind}] += target.weight;
  }
  return terms;
}

void ExpectWellFormed(const Batch& batch) {
  ASSERT_EQ(batch.tokens.size(), batch.positions.size());
  int32_t done = 0;
  for (size_t i = 0; i < batch.segments.size(); ++i) {
    const Segment& segment = batch.segments[i];
    EXPECT_EQ(segment.begin, done);
    EXPECT_LT(segment.begin, segment.end);
    EXPECT_LT(segment.parent, static_cast<int32_t>(i));
    done = segment.end;
  }
  EXPECT_EQ(done, static_cast<int32_t>(batch.tokens.size()));
  for (int32_t i = 0; i < done; ++i) {
    EXPECT_EQ(batch.positions[static_cast<size_t>(i)] + 1, std::ssize(PathOf(batch, i)));
  }
  for (size_t i = 1; i < batch.targets.size(); ++i) {
    const auto key = [&](size_t at) {
      const Target& t = batch.targets[at];
      return std::tuple(t.index, t.token, t.kind);
    };
    EXPECT_LT(key(i - 1), key(i));
  }
}

// Every prefix once, and a segment ends exactly where rows part, or all of them end.
void ExpectPrefixTree(const Batch& batch, const std::vector<TrainingRow>& rows) {
  std::set<Ids> prefixes;
  for (const TrainingRow& row : rows) {
    for (size_t i = 1; i <= row.ids.size(); ++i) {
      prefixes.emplace(row.ids.begin(), row.ids.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  EXPECT_EQ(batch.tokens.size(), prefixes.size());
  std::set<Ids> paths;
  for (int32_t i = 0; i < std::ssize(batch.tokens); ++i) paths.insert(PathOf(batch, i));
  EXPECT_EQ(paths, prefixes);
  std::map<Ids, int> children;
  for (Ids prefix : prefixes) {
    prefix.pop_back();
    ++children[prefix];
  }
  size_t ends = 0;
  for (const Ids& prefix : prefixes) ends += children[prefix] != 1 ? 1 : 0;
  EXPECT_EQ(batch.segments.size(), ends);
}

double TrainedTokens(const std::vector<TrainingRow>& rows) {
  double sum = 0;
  for (const TrainingRow& row : rows) sum += static_cast<double>(row.trained_tokens());
  return sum;
}

// Random rows with what trees get wrong: duplicates, and rows that are beginnings of others.
std::vector<TrainingRow> RandomRows(RandomStream& random) {
  std::vector<TrainingRow> rows;
  const size_t count = 1 + random.Below(12);
  const uint64_t alphabet = 1 + random.Below(4);
  for (size_t i = 0; i < count; ++i) {
    rows.push_back(RandomRow(random, 12, alphabet));
    if (random.Chance(0.3)) rows.push_back(random.Pick(rows));
    if (random.Chance(0.3)) {
      TrainingRow begin = random.Pick(rows);
      begin.ids.resize(1 + random.Below(begin.ids.size()));
      begin.trained.clear();
      if (begin.ids.size() > 1) begin.trained = {{1, static_cast<int32_t>(begin.ids.size())}};
      rows.push_back(begin);
    }
  }
  return rows;
}

TEST(BuildBatch, HasTheTermsOfTheRowsTakenApart) {
  RandomStream random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<TrainingRow> rows = RandomRows(random);
    const Batch batch = BuildBatch(PointersTo(rows), true);
    ExpectWellFormed(batch);
    ExpectPrefixTree(batch, rows);
    ASSERT_EQ(TermsOfBatch(batch), TermsOfRows(rows)) << "round " << round;
    ASSERT_EQ(batch.weight(), TrainedTokens(rows));
    ASSERT_EQ(batch.rows, std::ssize(rows));
  }
}

TEST(BuildBatch, WithoutSharingEveryRowIsASegmentByItself) {
  RandomStream random(2);
  for (int round = 0; round < 500; ++round) {
    const std::vector<TrainingRow> rows = RandomRows(random);
    const Batch batch = BuildBatch(PointersTo(rows), false);
    ExpectWellFormed(batch);
    ASSERT_EQ(batch.segments.size(), rows.size());
    ASSERT_EQ(static_cast<int64_t>(batch.tokens.size()), batch.row_tokens);
    for (size_t i = 0; i < rows.size(); ++i) {
      const Segment& segment = batch.segments[i];
      EXPECT_EQ(segment.parent, -1);
      EXPECT_EQ(Ids(batch.tokens.begin() + segment.begin, batch.tokens.begin() + segment.end),
                rows[i].ids);
    }
    ASSERT_EQ(TermsOfBatch(batch), TermsOfRows(rows));
    ASSERT_EQ(batch.weight(), TrainedTokens(rows));
  }
}

TEST(BuildBatch, ABranchHasOneTargetForEachNextToken) {
  const std::vector<TrainingRow> rows = {
      {{1, 2, 3}, {{1, 3}}}, {{1, 2, 4}, {{2, 3}}}, {{1, 2, 3, 5}, {{2, 4}}}, {{1, 2, 6}, {}}};
  const Batch batch = BuildBatch(PointersTo(rows), true);
  EXPECT_THAT(batch.tokens, ElementsAre(1, 2, 3, 5, 4, 6));
  EXPECT_THAT(batch.positions, ElementsAre(0, 1, 2, 3, 2, 2));
  ASSERT_EQ(batch.segments.size(), 4U);
  EXPECT_EQ(batch.segments[1].parent, 0);
  EXPECT_EQ(batch.segments[2].parent, 0);
  EXPECT_EQ(batch.segments[3].parent, 0);
  EXPECT_EQ(batch.segments[0].end, 2);
  ASSERT_EQ(batch.targets.size(), 4U);
  const auto expect = [&](size_t at, int32_t index, int32_t token, float weight) {
    EXPECT_EQ(batch.targets[at].index, index);
    EXPECT_EQ(batch.targets[at].token, token);
    EXPECT_EQ(batch.targets[at].weight, weight);
  };
  expect(0, 0, 2, 1);
  expect(1, 1, 3, 2);
  expect(2, 1, 4, 1);
  expect(3, 2, 5, 1);
}

TEST(BuildBatch, KindsStayApart) {
  const std::vector<TrainingRow> rows = {{{1, 2}, {{1, 2, TargetKind::kGood}}},
                                         {{1, 2}, {{1, 2, TargetKind::kRevision}}},
                                         {{1, 2}, {{1, 2, TargetKind::kGood}}}};
  const Batch batch = BuildBatch(PointersTo(rows), true);
  ASSERT_EQ(batch.targets.size(), 2U);
  EXPECT_EQ(batch.targets[0].kind, TargetKind::kGood);
  EXPECT_EQ(batch.targets[0].weight, 2);
  EXPECT_EQ(batch.targets[1].kind, TargetKind::kRevision);
  EXPECT_EQ(batch.targets[1].weight, 1);
}

// Following each row through the batch's tree finds its targets.
TEST(BuildRowBatch, NamesTheTargetsOfEachRow) {
  RandomStream random(5);
  for (int round = 0; round < 1000; ++round) {
    const std::vector<TrainingRow> rows = RandomRows(random);
    const bool share = random.Chance(0.7);
    const RowBatch built = BuildRowBatch(PointersTo(rows), share);
    ASSERT_EQ(TermsOfBatch(built.batch), TermsOfRows(rows));
    ASSERT_EQ(built.targets.size(), rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      size_t k = 0;
      for (const TrainedSpan& span : rows[i].trained) {
        for (int32_t at = span.begin; at < span.end; ++at, ++k) {
          ASSERT_LT(k, built.targets[i].size());
          const Target& target = built.batch.targets[static_cast<size_t>(built.targets[i][k])];
          EXPECT_EQ(target.token, rows[i].ids[static_cast<size_t>(at)]);
          EXPECT_EQ(target.kind, span.kind);
          EXPECT_EQ(PathOf(built.batch, target.index),
                    Ids(rows[i].ids.begin(), rows[i].ids.begin() + at));
        }
      }
      EXPECT_EQ(k, built.targets[i].size());
    }
  }
}

TEST(BuildBatch, OfRowsOfOneTokenAndOfNone) {
  EXPECT_TRUE(BuildBatch({}, true).tokens.empty());
  const std::vector<TrainingRow> rows = {{{7}, {}}, {{7}, {}}, {{8}, {}}};
  const Batch batch = BuildBatch(PointersTo(rows), true);
  EXPECT_THAT(batch.tokens, ElementsAre(7, 8));
  EXPECT_EQ(batch.segments.size(), 2U);
  EXPECT_EQ(batch.row_tokens, 3);
}

// Every way to cut n rows: a bit per border between two rows.
void ForEachCut(size_t rows, const std::function<void(const std::vector<size_t>&)>& on_cut) {
  for (uint32_t bits = 0; bits < (1U << (rows - 1)); ++bits) {
    std::vector<size_t> borders = {0};
    for (size_t i = 1; i < rows; ++i) {
      if ((bits >> (i - 1) & 1U) != 0) borders.push_back(i);
    }
    borders.push_back(rows);
    on_cut(borders);
  }
}

BatchCost CostOfStretch(const std::vector<const TrainingRow*>& rows, size_t begin, size_t end,
                        bool share) {
  return CostOf(BuildBatch(std::span(rows).subspan(begin, end - begin), share));
}

TEST(SplitByTokens, HasTheFewestTokensInTheFewestStretches) {
  RandomStream random(3);
  for (int round = 0; round < 150; ++round) {
    const std::vector<TrainingRow> made = RandomRows(random);
    std::vector<const TrainingRow*> rows = PointersTo(made);
    if (rows.size() > 9) rows.resize(9);
    SortForSharing(rows);
    const bool share = random.Chance(0.7);
    const auto most = static_cast<int64_t>(6 + random.Below(30));
    const auto tokens_of = [&](const std::vector<size_t>& borders) {
      int64_t sum = 0;
      for (size_t i = 0; i + 1 < borders.size(); ++i) {
        const int64_t tokens = CostOfStretch(rows, borders[i], borders[i + 1], share).tokens;
        if (tokens > most && borders[i + 1] > borders[i] + 1) return int64_t{-1};
        sum += tokens;
      }
      return sum;
    };
    std::pair<int64_t, size_t> best = {1'000'000, 0};
    ForEachCut(rows.size(), [&](const std::vector<size_t>& borders) {
      const int64_t tokens = tokens_of(borders);
      if (tokens >= 0) best = std::min(best, {tokens, borders.size()});
    });
    const std::vector<size_t> borders = SplitByTokens(rows, most, share);
    ASSERT_EQ(borders.front(), 0U);
    ASSERT_EQ(borders.back(), rows.size());
    EXPECT_EQ(tokens_of(borders), best.first) << "round " << round;
    EXPECT_EQ(borders.size(), best.second) << "round " << round;
  }
}

TEST(SplitByCost, MakesTheDearestStretchAsCheapAsCanBe) {
  RandomStream random(4);
  for (int round = 0; round < 150; ++round) {
    const std::vector<TrainingRow> made = RandomRows(random);
    std::vector<const TrainingRow*> rows = PointersTo(made);
    if (rows.size() > 9) rows.resize(9);
    SortForSharing(rows);
    const bool share = random.Chance(0.7);
    const size_t parts = 1 + random.Below(4);
    constexpr double kCost = 0.1;
    const auto dearest = [&](const std::vector<size_t>& borders) {
      double most = 0;
      for (size_t i = 0; i + 1 < borders.size(); ++i) {
        most = std::max(most, Total(CostOfStretch(rows, borders[i], borders[i + 1], share), kCost));
      }
      return most;
    };
    double best = 1e9;
    ForEachCut(rows.size(), [&](const std::vector<size_t>& borders) {
      if (borders.size() <= parts + 1) best = std::min(best, dearest(borders));
    });
    const std::vector<size_t> borders = SplitByCost(rows, parts, share, kCost);
    ASSERT_EQ(borders.size(), parts + 1);
    ASSERT_EQ(borders.front(), 0U);
    ASSERT_EQ(borders.back(), rows.size());
    EXPECT_NEAR(dearest(borders), best, 2e-3) << "round " << round;
  }
}

TEST(SplitByCost, LeavesRanksWithoutRowsWhereThereAreFewer) {
  const std::vector<TrainingRow> rows = {{{1, 2}, {}}, {{2, 3}, {}}};
  EXPECT_THAT(SplitByCost(PointersTo(rows), 4, true), ElementsAre(0, 1, 2, 2, 2));
  EXPECT_THAT(SplitByCost({}, 2, true), ElementsAre(0, 0, 0));
  EXPECT_THAT(SplitByTokens({}, 10, true), ElementsAre(0));
}

TEST(CostOf, CountsTheTokensThatAttentionSees) {
  const std::vector<TrainingRow> rows = {{{1, 2, 3}, {}}, {{1, 2, 4, 5}, {}}};
  EXPECT_EQ(CostOf(BuildBatch(PointersTo(rows), true)).pairs, 1 + 2 + 3 + 3 + 4);
  EXPECT_EQ(CostOf(BuildBatch(PointersTo(rows), false)).pairs, 6 + 10);
}

}  // namespace
}  // namespace agentr
