#include "training/data/row_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/file.h"
#include "common/random.h"

namespace agentr {
namespace {

// Groups of the sizes given, numbered through.
RowPool Pool(uint32_t file, const std::vector<uint32_t>& groups, double weight = 1) {
  RowPool pool;
  pool.weight = weight;
  uint32_t row = 0;
  for (const uint32_t size : groups) {
    pool.group_begins.push_back(pool.rows.size());
    for (uint32_t i = 0; i < size; ++i) pool.rows.push_back({file, row++});
  }
  return pool;
}

std::vector<std::vector<RowId>> Steps(RowOrder& order, int64_t count) {
  std::vector<std::vector<RowId>> steps;
  for (int64_t i = 0; i < count; ++i) steps.push_back(order.Step(i));
  return steps;
}

std::vector<RowPool> MixedPools() {
  return {Pool(0, {3, 1, 4, 2}, 0.2), Pool(1, {5, 2}, 0.3), Pool(2, {1, 1, 1}, 0.5)};
}

TEST(RowOrder, AnEpochHasEveryRowOnce) {
  RowOrder order({Pool(0, {3, 1, 4, 2, 7})}, 4, 11);
  ASSERT_EQ(order.steps_per_epoch(), 5);
  for (int epoch = 0; epoch < 4; ++epoch) {
    std::multiset<uint32_t> seen;
    for (int i = 0; i < 5; ++i) {
      const std::vector<RowId> rows = order.Step(epoch * 5 + i);
      EXPECT_EQ(rows.size(), i < 4 ? 4U : 1U);
      for (const RowId& row : rows) seen.insert(row.row);
    }
    EXPECT_EQ(seen.size(), 17U);
    EXPECT_EQ(std::set<uint32_t>(seen.begin(), seen.end()).size(), 17U);
  }
}

TEST(RowOrder, RowsOfATaskStandTogetherAndTasksAreShuffled) {
  const std::vector<uint32_t> sizes(30, 3);
  RowOrder order({Pool(0, sizes)}, 90, 5);
  const std::vector<RowId> first = order.Step(0), second = order.Step(1);
  for (const std::vector<RowId>& rows : {first, second}) {
    for (size_t i = 0; i < rows.size(); i += 3) {
      EXPECT_EQ(rows[i].row % 3, 0U);
      EXPECT_EQ(rows[i + 1].row, rows[i].row + 1);
      EXPECT_EQ(rows[i + 2].row, rows[i].row + 2);
    }
    EXPECT_FALSE(std::ranges::is_sorted(rows, {}, &RowId::row));
  }
  EXPECT_NE(first, second);
  RowOrder other({Pool(0, sizes)}, 90, 6);
  EXPECT_NE(other.Step(0), first);
}

// Agent-R's objective eta * (L_good + L_revision) + (1 - eta) * L_general is, except for the factor
// 1 + eta, the mean loss of rows of which these weights are the shares.
TEST(RowOrder, WeightsAreTheMixtureOfAgentR) {
  const auto golden = nlohmann::json::parse(
      ReadFile(AGENTR_SOURCE_DIR "/tests/golden/rl/losses.json"))["agent_r_mixture"];
  const double eta = golden["eta"];
  const auto losses = golden["L_good,L_rev,L_general"].get<std::vector<double>>();
  RowOrder order({Pool(0, {3, 1, 4}, eta), Pool(1, {5, 2}, eta), Pool(2, {1, 1, 1}, 1 - eta)},
                 /*batch_rows=*/12, 3);
  for (const size_t count : {12u, 6u}) {  // an epoch
    const std::vector<RowId> rows = order.Step(count == 12 ? 0 : 1);
    ASSERT_EQ(rows.size(), count);
    double sum = 0;
    for (const RowId& row : rows) sum += losses[row.file];
    EXPECT_NEAR((1 + eta) * sum / static_cast<double>(count), golden["total"], 1e-12);
  }
}

TEST(RowOrder, GoesOnAtEveryStepAsIfItHadNeverStopped) {
  for (const int batch_rows : {1, 3, 4, 64}) {
    RowOrder whole(MixedPools(), batch_rows, 3);
    const auto steps = Steps(whole, 40);
    for (int64_t from = 0; from < 40; ++from) {
      RowOrder resumed(MixedPools(), batch_rows, 3);
      for (int64_t i = from; i < 40; ++i) {
        ASSERT_EQ(resumed.Step(i), steps[static_cast<size_t>(i)]) << batch_rows << " " << from;
      }
    }
    // And backwards, as a step that is taken once more.
    for (int64_t i = 40; i-- > 0;) ASSERT_EQ(whole.Step(i), steps[static_cast<size_t>(i)]);
  }
}

TEST(RowOrder, APoolHasItsShareOfAnyNumberOfSteps) {
  RowOrder order(MixedPools(), 3, 8);
  std::map<uint32_t, int> drawn;
  int total = 0;
  const double shares[] = {0.2, 0.3, 0.5};
  for (int step = 0; step < 200; ++step) {
    for (const RowId& row : order.Step(step)) {
      ++drawn[row.file];
      ++total;
      for (uint32_t file = 0; file < 3; ++file) EXPECT_NEAR(drawn[file], shares[file] * total, 1);
    }
  }
}

TEST(RowOrder, APoolIsDrawnWholeBeforeItsRowsComeAgain) {
  RowOrder order(MixedPools(), 4, 9);
  std::map<uint32_t, std::vector<uint32_t>> drawn;
  for (int step = 0; step < 60; ++step) {
    for (const RowId& row : order.Step(step)) drawn[row.file].push_back(row.row);
  }
  const size_t sizes[] = {10, 7, 3};
  for (uint32_t file = 0; file < 3; ++file) {
    for (size_t at = 0; at + sizes[file] <= drawn[file].size(); at += sizes[file]) {
      const auto begin = drawn[file].begin() + static_cast<std::ptrdiff_t>(at);
      const std::set<uint32_t> round(begin, begin + static_cast<std::ptrdiff_t>(sizes[file]));
      EXPECT_EQ(round.size(), sizes[file]) << file << " " << at;
    }
  }
}

}  // namespace
}  // namespace agentr
