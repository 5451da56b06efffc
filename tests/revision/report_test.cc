#include "revision/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "revision/make/task_record.h"
#include "revision/revise.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ReviseReport Report() {
  ReviseReport report;
  report.counts.trees = 10;
  report.counts.without_good = 2;
  report.counts.pairs_found = 90;
  report.counts.pairs = 40;
  report.counts.first_errors = {{0, 4}, {1, 20}, {2, 8}, {6, 5}, {9, 3}};
  report.counts.replays = {0, 30, 6, 4};
  report.counts.mistakes_found = 12;
  report.counts.mistakes = {{"no_recipe", 10}, {"missing_item", 30}};
  report.counts.recoveries = {{0, 35}, {1, 3}, {2, 2}};
  report.counts.ended_bad = 3;
  report.counts.episodes = 40;
  report.exact_duplicates = 1;
  report.near_duplicates = 5;
  report.rows = 30;
  report.wall_s = 2;
  report.failed = {{7, true, {ErrorKind::kRejected, "x.json:1: not JSON"}}};
  report.files = {{"out/toy_centric.jsonl", 1500000}};
  return report;
}

TEST(ReportTableTest, NamesEverythingThatWasCounted) {
  const std::string table = ReportTable(Report());
  EXPECT_THAT(table, HasSubstr("10 read, 1 bad files, 2 without a good path"));
  EXPECT_THAT(table, HasSubstr("90 found, 40 run"));
  EXPECT_THAT(table, HasSubstr("step 1: 20 (50.0 %), 2: 8 (20.0 %), 6+: 8 (20.0 %), none found: 4 "
                               "(10.0 %)"));
  EXPECT_THAT(table, HasSubstr("verified 30 (75.0 %), diverged 6 (15.0 %), failed 4 (10.0 %); 3 of "
                               "the failed were over before the first good step"));
  EXPECT_THAT(table, HasSubstr("12 mistakes, 90 found"));
  EXPECT_THAT(table, HasSubstr("missing_item 30 (75.0 %), no_recipe 10 (25.0 %)"));
  EXPECT_THAT(table, HasSubstr("3 with 1 action, 2 with 2 actions"));
  EXPECT_THAT(table, HasSubstr("40 episodes, 20/s"));
  EXPECT_THAT(table, HasSubstr("1 exact and 5 near duplicates"));
  EXPECT_THAT(table, HasSubstr("15 rows/s"));
  EXPECT_THAT(table, HasSubstr("task 7: x.json:1: not JSON"));
  EXPECT_THAT(table, HasSubstr("out/toy_centric.jsonl (1.5 MB)"));
  EXPECT_THAT(table, Not(HasSubstr("judgements")));
}

TEST(ReportTableTest, JudgementsWhereThereAreAny) {
  ReviseReport report = Report();
  report.counts.judgements = {7, 2, 3};
  report.counts.unparsed = 1;
  EXPECT_THAT(ReportTable(report), HasSubstr("7 Good, 2 Bad, 3 Uncertain (1 unreadable)"));
}

TEST(WhyNoRowsTest, NamesTheBestRewardAndWhatIsMissing) {
  ReviseReport report;
  EXPECT_THAT(WhyNoRows(report, 0.5), HasSubstr("no ended path"));
  report.counts.paths = 7;
  report.counts.best_reward = 0.25;
  EXPECT_THAT(WhyNoRows(report, 0.5), AllOf(HasSubstr("best reward of 7 paths is 0.25"),
                                            HasSubstr("at least 0.5 (--alpha)")));
  report.counts.good_paths = 2;
  EXPECT_THAT(WhyNoRows(report, 0.2), HasSubstr("no tree has a bad path"));
  report.counts.pairs_found = 3;
  EXPECT_THAT(WhyNoRows(report, 0.2), HasSubstr("of 3 pairs none became a row"));
}

TEST(CountsTest, TheBestRewardIsThatOfAllTrees) {
  RevisionCounts sum, none, low, high;
  low.best_reward = -0.5;
  high.best_reward = 0.75;
  sum += none;
  EXPECT_EQ(sum.best_reward, std::nullopt);
  for (const RevisionCounts& counts : {low, none, high, low}) sum += counts;
  EXPECT_EQ(sum.best_reward, 0.75);
}

TEST(CountsTest, AddUp) {
  RevisionCounts sum;
  const Decision decision{
      {{1, 1}, {2, 0}, 0},
      {2, true, {{1, {Judgement::kGood, "", true}}, {2, {Judgement::kBad, "", true}}}},
      "no_recipe",
      true,
      0,
      {},
      {ReplayOutcome::kFailed, 0, 3, true, {}},
      4,
      2};
  Count(decision, sum);
  RevisionCounts twice = sum;
  twice += sum;
  EXPECT_EQ(twice.pairs, 2);
  EXPECT_EQ(twice.first_errors.at(2), 2);
  EXPECT_EQ(twice.judgements[static_cast<size_t>(Judgement::kBad)], 2);
  EXPECT_EQ(twice.replays[static_cast<size_t>(ReplayOutcome::kFailed)], 2);
  EXPECT_EQ(twice.ended_bad, 2);
  EXPECT_EQ(twice.mistakes.at("no_recipe"), 2);
  EXPECT_EQ(twice.recoveries.at(2), 2);
  EXPECT_EQ(twice.pruned_turns, 8);
}

}  // namespace
}  // namespace agentr
