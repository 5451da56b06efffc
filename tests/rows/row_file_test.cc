#include "rows/row_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "common/file.h"
#include "tests/common/scratch_folder.h"
#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<std::string> Lines(const RowFile& file) {
  std::vector<std::string> lines;
  for (int64_t i = 0; i < file.rows(); ++i) lines.push_back(file.Line(i));
  return lines;
}

TEST(RowFile, HasTheLinesThatAreNotBlank) {
  const ScratchFolder folder;
  const RowFile file(folder.Write("a.jsonl", "\n{1}\r\n  \t\n\n{22}\n{333}"));
  EXPECT_THAT(Lines(file), ElementsAre("{1}\r", "{22}", "{333}"));
  EXPECT_THAT(file.Place(0), EndsWith("a.jsonl:2"));
  EXPECT_THAT(file.Place(1), EndsWith("a.jsonl:5"));
  EXPECT_THAT(file.Place(2), EndsWith("a.jsonl:6"));
  EXPECT_THAT(Lines(RowFile(folder.Write("b.jsonl", "x\n"))), ElementsAre("x"));
}

TEST(RowFile, GroupsRowsByTask) {
  const ScratchFolder folder;
  const RowFile file(folder.Write("a.jsonl",
                                  "{\"x\":1,\"task\":1}\n{\"task\":2}\n{\"y\":3,\"task\":1}\n"
                                  "{\"of\":1}\n{\"of\":2}\n{\"of\":1}\n"));
  EXPECT_EQ(file.group(0), file.group(2));
  EXPECT_NE(file.group(0), file.group(1));
  EXPECT_NE(file.group(3), file.group(4));
  EXPECT_EQ(file.group(3), file.group(5));
  const RowFile other(folder.Write("b.jsonl", "{\"task_num\": 1, \"z\": 5}\n"));
  EXPECT_EQ(other.group(0), file.group(0));
}

// Lines of all lengths, some longer than what one task scans.
TEST(RowFile, LinesMayCrossThePiecesThatAreScannedAtOnce) {
  const ScratchFolder folder;
  const fs::path path = folder / "big.jsonl";
  std::vector<size_t> sizes;
  {
    std::ofstream out(path, std::ios::binary);
    RandomStream random(1);
    for (size_t total = 0; total < (size_t{100} << 20);) {
      const size_t size =
          sizes.size() == 20 ? size_t{40} << 20 : 1 + random.Below(size_t{1} << random.Below(22));
      sizes.push_back(size);
      total += size + 1;
      out << std::string(size, static_cast<char>('a' + sizes.size() % 26)) << '\n';
    }
  }
  const RowFile file(path);
  ASSERT_EQ(file.rows(), std::ssize(sizes));
  std::ifstream in(path, std::ios::binary);
  std::string line;
  for (int64_t i = 0; std::getline(in, line); ++i) {
    ASSERT_EQ(file.Line(i).size(), sizes[static_cast<size_t>(i)]);
    ASSERT_TRUE(file.Line(i) == line) << i;
  }
}

TEST(RowFile, TheIndexOfALargeFileIsKeptAndUsed) {
  const ScratchFolder folder;
  const fs::path path = folder.Write("a.jsonl", "{\"task\":1}\n{\"task\":2}\n\n{\"task\":1}\n");
  const RowFile small(path);
  EXPECT_FALSE(fs::exists(RowFile::IndexPath(path)));
  const RowFile scanned(path, 0);
  ASSERT_TRUE(fs::exists(RowFile::IndexPath(path)));
  const auto time = fs::last_write_time(RowFile::IndexPath(path));
  const RowFile read(path, 0);
  EXPECT_EQ(fs::last_write_time(RowFile::IndexPath(path)), time);  // not written again
  EXPECT_EQ(Lines(read), Lines(small));
  EXPECT_EQ(read.hash(), small.hash());
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(read.group(i), small.group(i));
  EXPECT_THAT(read.Place(2), EndsWith(":4"));
}

TEST(RowFile, AnIndexOfAnotherStateOfTheFileIsNotUsed) {
  const ScratchFolder folder;
  const fs::path path = folder.Write("a.jsonl", "{1}\n{2}\n");
  const std::string before = RowFile(path, 0).hash();
  folder.Write("a.jsonl", "{1}\n{2}\n{3}\n");
  EXPECT_THAT(Lines(RowFile(path, 0)), ElementsAre("{1}", "{2}", "{3}"));
  EXPECT_NE(RowFile(path, 0).hash(), before);
  // The same size, another time.
  folder.Write("a.jsonl", "{1}\n{2}{4}{\n");
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_THAT(Lines(RowFile(path, 0)), ElementsAre("{1}", "{2}{4}{"));
}

TEST(RowFile, ASpoiledIndexIsMadeAnew) {
  const ScratchFolder folder;
  const fs::path path = folder.Write("a.jsonl", "{1}\n{2}\n");
  const RowFile first(path, 0);
  const std::string index = ReadFile(RowFile::IndexPath(path));
  for (size_t i = 0; i < index.size(); ++i) {
    std::string spoiled = index;
    spoiled[i] = static_cast<char>(spoiled[i] ^ 1);
    folder.Write(".a.jsonl.rows", spoiled);
    ASSERT_THAT(Lines(RowFile(path, 0)), ElementsAre("{1}", "{2}")) << i;
    folder.Write(".a.jsonl.rows", index.substr(0, i));
    ASSERT_THAT(Lines(RowFile(path, 0)), ElementsAre("{1}", "{2}")) << i;
  }
  EXPECT_EQ(ReadFile(RowFile::IndexPath(path)), index);
}

TEST(RowFile, ErrorsNameTheFileAndTheReason) {
  const ScratchFolder folder;
  EXPECT_THAT(FatalErrorOf([&] { RowFile file(folder / "none"); }),
              HasSubstr("none: No such file"));
  EXPECT_THAT(FatalErrorOf([&] { RowFile file(folder.path()); }),
              HasSubstr("a folder or a device"));
  EXPECT_THAT(FatalErrorOf([&] { RowFile file(folder.Write("e", "")); }), HasSubstr("has no rows"));
  EXPECT_THAT(FatalErrorOf([&] { RowFile file(folder.Write("e", " \n\n")); }),
              HasSubstr("has no rows"));
  const RowFile file(folder.Write("a", "{1}\n{2}\n"));
  folder.Write("a", "{1}\n");
  EXPECT_THAT(FatalErrorOf([&] { file.Line(1); }), HasSubstr("it has become shorter"));
}

TEST(TaskKey, IsTheTaskOrTheNumberOrTheItem) {
  const std::string row = R"({"messages":[],"provenance":{"task":3,"nodes":{"good":5)";
  EXPECT_EQ(TaskKey(row + "}}"), "3");
  EXPECT_EQ(TaskKey(R"({"task_num": 31, "revise_log": []})"), "31");
  EXPECT_EQ(TaskKey(R"({"conversations":[],"item_id": "webshop_5"})"), "webshop_5");
  EXPECT_EQ(TaskKey(R"({"item_id":"webshop_5","provenance":{"task":5,"x":1}})"), "5");
  EXPECT_EQ(TaskKey(R"({"messages":[{"role":"user","content":"my \"task\": 5"}]})"), "");
  // What path_collect writes behind the task may be long.
  EXPECT_EQ(TaskKey(R"({"messages":[],"provenance":{"task":31,"last_observation":")" +
                    std::string(10000, 'x') + "\"}}"),
            "31");
  EXPECT_EQ(TaskKey(""), "");
  EXPECT_EQ(TaskKey(R"("task":)"), "");
  EXPECT_EQ(TaskKey(R"("item_id":"open)"), "");
}

}  // namespace
}  // namespace agentr
