#include "rows/parquet.h"

#include <gtest/gtest.h>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

// scripts/golden/parquet_rows.py compares the two files with pyarrow.
TEST(WriteParquet, GivesTheBytesThatPyarrowHasRead) {
  const std::filesystem::path golden = AGENTR_SOURCE_DIR "/tests/golden/parquet";
  const ScratchFolder folder;
  WriteParquet(golden / "rows.jsonl", ColumnsOf(DataFormat::kMessages), folder / "rows.parquet");
  EXPECT_EQ(ReadFile(folder / "rows.parquet"), ReadFile(golden / "rows.parquet"));
}

TEST(WriteParquet, RefusesWhatIsNoRow) {
  const ScratchFolder folder;
  const auto rows = folder.Write("rows.jsonl", "{}\n[1]\n");
  EXPECT_THROW(WriteParquet(rows, ColumnsOf(DataFormat::kMessages), folder / "x"), FatalError);
  EXPECT_THROW(WriteParquet(folder / "none", ColumnsOf(DataFormat::kMessages), folder / "x"),
               FatalError);
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

}  // namespace
}  // namespace agentr
