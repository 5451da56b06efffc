#include "rollout/run_report.h"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <set>

namespace agentr {
namespace {

template <typename T>
using Counts = std::array<int64_t, sizeof(T) / sizeof(int64_t)>;

// A T whose fields, all counts, are first, first + 1, …
template <typename T>
T Numbered(int64_t first) {
  Counts<T> counts{};
  for (int64_t& count : counts) count = first++;
  return std::bit_cast<T>(counts);
}

// That each field of T is added: by what the memory holds, so that a new field counts too.
template <typename T>
void ExpectEveryFieldIsAdded() {
  T sum = Numbered<T>(1);
  sum += Numbered<T>(100);
  const auto counts = std::bit_cast<Counts<T>>(sum);
  for (size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(counts[i], 101 + 2 * static_cast<int64_t>(i)) << "field " << i;
  }
}

TEST(RunReport, EveryCountIsAdded) {
  ExpectEveryFieldIsAdded<ExecutionStats>();
  ExpectEveryFieldIsAdded<Usage>();
}

TEST(RunReport, EveryCountIsReported) {
  RunReport report;
  report.execution = Numbered<ExecutionStats>(1);
  report.usage = Numbered<Usage>(1000);
  const nlohmann::ordered_json json = ToJson(report);
  std::set<int64_t> told;
  for (const auto& [name, value] : json["environment"].items()) told.insert(value.get<int64_t>());
  for (const auto& [name, value] : json["model"].items()) told.insert(value.get<int64_t>());
  for (const int64_t count : std::bit_cast<Counts<ExecutionStats>>(report.execution)) {
    EXPECT_TRUE(told.contains(count)) << count;
  }
  for (const int64_t count : std::bit_cast<Counts<Usage>>(report.usage)) {
    EXPECT_TRUE(told.contains(count)) << count;
  }
  EXPECT_FALSE(json.contains("cut_turns"));
  report.cut_turns = 5;
  EXPECT_EQ(ToJson(report)["cut_turns"], 5);
  EXPECT_EQ(json["environment"]["replayed_steps"], report.execution.replays);
  EXPECT_EQ(json["model"]["completion_tokens"], report.usage.completion_tokens);
}

}  // namespace
}  // namespace agentr
