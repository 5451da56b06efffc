#include "common/progress.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace agentr {
namespace {

TEST(ProgressText, TellsRatesAndTimeLeft) {
  EXPECT_EQ(ProgressText("trees", "nodes",
                         {.total = 200, .done = 10, .failed = 2, .units = 560, .elapsed_s = 4}),
            "trees 12/200 6% | 3/s | 140 nodes/s | ETA 1:03 | 2 errors");
}

TEST(ProgressText, WhatWasThereAlreadyIsNoRate) {
  EXPECT_EQ(ProgressText("trees", "", {.total = 128, .done = 39, .skipped = 45, .elapsed_s = 10}),
            "trees 84/128 65% | 3.9/s | ETA 0:12");
  EXPECT_EQ(ProgressText("trees", "", {.total = 4, .skipped = 3, .elapsed_s = 1}),
            "trees 3/4 75% | 0/s | ETA -");
}

TEST(ProgressText, LeavesOutWhatThereIsNot) {
  EXPECT_EQ(ProgressText("trees", "", {.total = 4, .done = 1, .elapsed_s = 1}),
            "trees 1/4 25% | 1/s | ETA 0:03");
}

TEST(ProgressText, HasNoTimeLeftBeforeTheFirstResult) {
  EXPECT_EQ(ProgressText("trees", "", {.total = 4}), "trees 0/4 0% | 0/s | ETA -");
}

TEST(ProgressText, APartOfTheFirstItemTellsTheTimeLeft) {
  EXPECT_EQ(ProgressText("steps", "", {.total = 10, .part = 0.5, .elapsed_s = 60}),
            "steps 0/10 0% | 0/s | ETA 19:00");
  EXPECT_EQ(ProgressText("steps", "", {.total = 10, .done = 2, .part = 0.5, .elapsed_s = 60}),
            "steps 2/10 20% | 0.0333/s | ETA 3:00");
}

TEST(ProgressText, EndsWithTheNote) {
  EXPECT_EQ(ProgressText("trees", "", {.total = 1, .done = 1, .elapsed_s = 1, .note = "all well"}),
            "trees 1/1 100% | 1/s | ETA 0:00 | all well");
}

TEST(ProgressText, OneErrorIsSingular) {
  EXPECT_EQ(ProgressText("trees", "", {.total = 1, .failed = 1, .elapsed_s = 2}),
            "trees 1/1 100% | 0.5/s | ETA 0:00 | 1 error");
}

TEST(FormatDuration, RoundsUpToSeconds) {
  EXPECT_EQ(FormatDuration(0), "0:00");
  EXPECT_EQ(FormatDuration(0.1), "0:01");
  EXPECT_EQ(FormatDuration(59.5), "1:00");
  EXPECT_EQ(FormatDuration(245), "4:05");
  EXPECT_EQ(FormatDuration(3723), "1:02:03");
  EXPECT_EQ(FormatDuration(360000), "100:00:00");
}

TEST(Progress, EndsWithTheLastState) {
  testing::internal::CaptureStderr();
  {
    Progress progress("trees", "nodes", 2);
    progress.Done();
    progress.Failed();
    progress.AddUnits(7);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("trees 2/2 100%"));
  EXPECT_THAT(text, testing::EndsWith("1 error\n"));
}

// Captured output is a file, where a line a minute is enough.
TEST(Progress, IsNotRedrawnWhereThereIsNoTerminal) {
  testing::internal::CaptureStderr();
  {
    Progress progress("trees", "", 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    progress.Done();
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(Progress, DrawsNothingForNothing) {
  testing::internal::CaptureStderr();
  { const Progress progress("trees", "nodes", 0); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace agentr
