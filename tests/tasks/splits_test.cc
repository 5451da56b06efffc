#include "tasks/splits.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Splits, HavePublishedSizes) {
  EXPECT_EQ(SplitOf("webshop").test().size(), 200u);
  EXPECT_EQ(SplitOf("webshop").train().size(), 3930u);
  EXPECT_EQ(SplitOf("textcraft").test().size(), 100u);
  EXPECT_EQ(SplitOf("textcraft").train().size(), 374u);
  EXPECT_EQ(SplitOf("sciworld").test().size(), 200u);
  EXPECT_THAT(SplitOf("sciworld").train(), IsEmpty());
  EXPECT_EQ(SplitOf("babyai").test().size(), 200u);
  EXPECT_FALSE(SplitOf("babyai").IsTest(9999));
  EXPECT_TRUE(SplitOf("babyai").IsTest(10000));
  EXPECT_EQ(SplitOf("twenty_questions").test().size(), 31u);
  EXPECT_EQ(SplitOf("guess_my_city").test().size(), 18u);
  EXPECT_EQ(SplitOf("detective").test().size(), 200u);
  EXPECT_EQ(SplitOf("wordle").test().size(), 25u);
  EXPECT_EQ(SplitOf("wordle").train().size(), 955u);
  EXPECT_EQ(SplitOf("maze").test().size(), 25u);
  EXPECT_EQ(SplitOf("maze").train().size(), 215u);
}

TEST(Splits, TestAndTrainShareNoTask) {
  for (const char* family : {"webshop", "textcraft", "sciworld", "babyai", "twenty_questions",
                             "guess_my_city", "detective", "wordle", "maze"}) {
    const Split& split = SplitOf(family);
    for (const int id : split.train()) EXPECT_FALSE(split.IsTest(id)) << family << " " << id;
    EXPECT_TRUE(std::is_sorted(split.test().begin(), split.test().end()));
  }
}

TEST(Splits, KnowsTestTasks) {
  EXPECT_TRUE(SplitOf("textcraft").IsTest(0));
  EXPECT_TRUE(SplitOf("textcraft").IsTest(535));
  EXPECT_FALSE(SplitOf("textcraft").IsTest(31));
  EXPECT_TRUE(SplitOf("webshop").IsTest(26));
}

TEST(Splits, UnknownFamiliesHaveEmptyOnes) {
  EXPECT_THAT(SplitOf("chess").test(), IsEmpty());
  EXPECT_THAT(SplitOf("chess").train(), IsEmpty());
  EXPECT_FALSE(SplitOf("chess").IsTest(0));
}

TEST(Splits, ATestPartThatIsNotPublishedIsRefused) {
  for (const char* family : {"webshop", "textcraft", "sciworld", "babyai", "twenty_questions",
                             "guess_my_city", "detective", "wordle", "maze"}) {
    EXPECT_NO_THROW(CheckPublished(SplitPart::kTest, family));
  }
  EXPECT_NO_THROW(CheckPublished(SplitPart::kTrain, "babyai"));
  EXPECT_NO_THROW(CheckPublished(SplitPart::kAll, "babyai"));
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [] { CheckPublished(SplitPart::kTest, "chess"); }),
              HasSubstr("no test ids are published for chess"));
}

TEST(Splits, PartsFilterTasks) {
  const Split split({5, 1}, {2, 3});
  EXPECT_TRUE(split.Has(SplitPart::kTest, 5));
  EXPECT_FALSE(split.Has(SplitPart::kTest, 2));
  EXPECT_TRUE(split.Has(SplitPart::kTrain, 3));
  EXPECT_FALSE(split.Has(SplitPart::kTrain, 1));
  EXPECT_TRUE(split.Has(SplitPart::kTrain, 4)) << "what is no test id may be trained on";
  EXPECT_TRUE(split.Has(SplitPart::kAll, 1));
  EXPECT_TRUE(split.Has(SplitPart::kAll, 4));
}

}  // namespace
}  // namespace agentr
