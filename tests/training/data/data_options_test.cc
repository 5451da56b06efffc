#include "training/data/data_options.h"

#include <gmock/gmock.h>

#include "tests/common/scratch_folder.h"
#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

TEST(DataPath, IsAPathAndAWeightBehindTheLastColon) {
  EXPECT_EQ(DataPath::Parse("a/b.jsonl").path, "a/b.jsonl");
  EXPECT_EQ(DataPath::Parse("a/b.jsonl").weight, 0);
  EXPECT_EQ(DataPath::Parse("a/b.jsonl:0.25").path, "a/b.jsonl");
  EXPECT_EQ(DataPath::Parse("a/b.jsonl:0.25").weight, 0.25);
  EXPECT_EQ(DataPath::Parse("a:b.jsonl").path, "a:b.jsonl");
  EXPECT_EQ(DataPath::Parse("a:1:2").path, "a:1");
  EXPECT_EQ(DataPath::Parse("a:1x").path, "a:1x");
}

TEST(DataPath, AFileOfThatVeryNameComesFirst) {
  const ScratchFolder folder;
  const std::string path = folder.Write("rows:5", "{}").string();
  EXPECT_EQ(DataPath::Parse(path).path, path);
  EXPECT_EQ(DataPath::Parse(path).weight, 0);
}

TEST(DataPath, AWeightIsAbove0) {
  for (const char* weight : {"0", "-1", "inf", "nan"}) {
    EXPECT_THAT(FatalErrorOf([&] { DataPath::Parse(std::string("a.jsonl:") + weight); }),
                HasSubstr("must be above 0"))
        << weight;
  }
}

TEST(DataOptions, ThatDoNotFitTogetherAreRefused) {
  DataOptions options;
  EXPECT_THAT(FatalErrorOf([&] { Check(options); }), HasSubstr("--data"));
  options.data = {"a"};
  EXPECT_EQ(FatalErrorOf([&] { Check(options); }), "");
  options.batch_tokens = options.max_length - 1;
  EXPECT_THAT(FatalErrorOf([&] { Check(options); }),
              HasSubstr("--batch_tokens 8191 is too small for a row of --max_length 8192"));
}

}  // namespace
}  // namespace agentr
