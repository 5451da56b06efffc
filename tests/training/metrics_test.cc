#include "training/metrics.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/file.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

std::string EventsIn(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) {
      return ReadFile(entry.path());
    }
  }
  return "";
}

// The check value of the polynomial (RFC 3720, appendix B.4, and the CRC catalogue).
TEST(TensorBoard, Crc32cIsTheCatalogues) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
}

// TensorBoard 2.21 drops the steps from 4 on that it read before this record (EventAccumulator).
TEST(TensorBoard, AContinuedRunTakesBackTheStepsOfAKilledOne) {
  // Event: step (field 2) 4, session_log (7) { status (1) START }.
  const ScratchFolder continued;
  { EventFile(continued.path(), 1e9, 3); }
  EXPECT_NE(EventsIn(continued.path()).find("\x10\x04\x3a\x02\x08\x01"), std::string::npos);
  // All of them, if it had no checkpoint.
  const ScratchFolder begun;
  { EventFile(begun.path(), 1e9); }
  EXPECT_NE(EventsIn(begun.path()).find(std::string("\x10\x00\x3a\x02\x08\x01", 6)),
            std::string::npos);
}

TEST(TensorBoard, RecordsAreFramedAndHoldTheValues) {
  const ScratchFolder scratch;
  {
    EventFile events(scratch.path(), 1e9);
    events.Add(300, 1e9, {{"train/loss", 0.5}});
  }
  const std::string bytes = EventsIn(scratch.path());
  std::vector<std::string> records;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, 8);
    const auto check = [&](size_t begin, size_t count) {
      uint32_t stored = 0;
      std::memcpy(&stored, bytes.data() + begin + count, 4);
      const uint32_t rotated = stored - 0xa282ead8u;
      EXPECT_EQ(std::rotl(rotated, 15), Crc32c({bytes.data() + begin, count}));
    };
    check(at, 8);
    check(at + 12, length);
    records.push_back(bytes.substr(at + 12, length));
    at += 16 + length;
  }
  ASSERT_EQ(records.size(), 3u);
  EXPECT_NE(records[0].find("brain.Event:2"), std::string::npos);
  // Event: step (field 2) 300, summary (5) { value (1) { tag (1), simple_value (2) } }.
  EXPECT_EQ(records[2].substr(9), std::string("\x10\xac\x02\x2a\x13\x0a\x11\x0a\x0atrain/loss"
                                              "\x15\x00\x00\x00\x3f",
                                              24));
}

TEST(Metrics, GoesOnBehindTheCheckpoint) {
  const ScratchFolder scratch;
  {
    Metrics metrics(scratch.path(), -1);
    for (int step = 1; step <= 4; ++step) metrics.Add({{"step", step}, {"lr", 0.1}});
  }
  const auto path = scratch / "metrics.jsonl";
  std::ofstream(path, std::ios::app) << "{\"step\":5,\"l";  // killed while it wrote
  {
    Metrics metrics(scratch.path(), 4);
    EXPECT_EQ(ReadFile(path).back(), '\n');
    metrics.Add({{"step", 5}});
  }
  Metrics metrics(scratch.path(), 2);
  EXPECT_EQ(ReadFile(path), "{\"step\":1,\"lr\":0.1}\n{\"step\":2,\"lr\":0.1}\n");
}

TEST(Metrics, KindsStandApart) {
  LossSums sums;
  sums.kinds[1] = {6, 2, 1};
  EXPECT_FALSE(ToJson(sums).contains("good"));  // all of them
  sums.kinds[2] = {2, 2, 2};
  const auto json = ToJson(sums);
  EXPECT_EQ(json["loss"], 2);
  EXPECT_EQ(json["accuracy"], 0.75);
  EXPECT_EQ(json["good"]["loss"], 3);
  EXPECT_EQ(json["revision"]["accuracy"], 1);
}

}  // namespace
}  // namespace agentr
