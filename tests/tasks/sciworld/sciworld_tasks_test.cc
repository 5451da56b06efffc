#include "tasks/sciworld/sciworld_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tasks/splits.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Types = std::vector<std::string>;

TEST(SciWorldTasks, StandInARow) {
  int next = 0;
  for (const SciWorldTaskType& type : SciWorldTaskTypes()) {
    EXPECT_EQ(type.first, next) << type.id;
    next += type.count;
  }
  EXPECT_EQ(next, 4639);
  EXPECT_EQ(SciWorldTaskTypes().size(), 23u);
  EXPECT_LT(SplitOf("sciworld").test().back(), next);
}

TEST(SciWorldTasks, AreFoundByTheirTypes) {
  const std::vector<int> boil = SciWorldTasksOf(Types{"1-1"});
  EXPECT_EQ(boil.size(), 30u);
  EXPECT_EQ(boil.front(), 0);
  EXPECT_EQ(boil.back(), 29);
  const std::vector<int> last = SciWorldTasksOf(Types{"8-2", "1-4", "8-2"});
  EXPECT_EQ(last.size(), 40u) << "each once";
  EXPECT_EQ(last.front(), 90) << "ascending, in whatever order they are named";
  EXPECT_EQ(last[30], 4629);
  EXPECT_EQ(last.back(), 4638);
}

TEST(SciWorldTasks, UnknownTypesAreNamedWithThoseThereAre) {
  for (const char* type : {"5-1", "10-1", "boil", "", "1-11"}) {
    EXPECT_THAT(FatalErrorOf(ExitCode::kUsage,
                             [&] {
                               SciWorldTasksOf(Types{"1-1", type});
                             }),
                AllOf(HasSubstr("\"" + std::string(type) + "\""), HasSubstr("1-1 boil, 1-2 melt"),
                      HasSubstr("8-2 identify-life-stages-2")));
  }
}

}  // namespace
}  // namespace agentr
