#include "revision/make/counts.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "revision/report.h"
#include "revision/revise.h"

namespace agentr {
namespace {

// Counts whose numbers are all different from each other, beginning with `n`. The binding names
// every member: it does not compile when one is added, and says where else to name it.
RevisionCounts Numbered(int64_t n) {
  RevisionCounts counts;
  auto& [trees, without_good, without_pairs, other_start, cache_hits, paths, good_paths,
         best_reward, bad_paths, pairs_found, mistakes_found, duplicate_drafts, contradictions,
         pairs, mistakes, recoveries, pruned_turns, cut_turns, rewritten_turns, disagreeing_rows,
         disagreeing_turns, unclean_rows, first_errors, judgements, unparsed, replays, ended_bad,
         too_long, rows, episodes, episode_turns, calls] = counts;
  EXPECT_FALSE(best_reward) << "no count, so it is not added (report_test.cc)";
  for (int64_t* count : {&trees,         &without_good,    &without_pairs,    &other_start,
                         &cache_hits,    &paths,           &good_paths,       &bad_paths,
                         &pairs_found,   &mistakes_found,  &duplicate_drafts, &contradictions,
                         &pairs,         &mistakes["a"],   &recoveries[1],    &pruned_turns,
                         &cut_turns,     &rewritten_turns, &disagreeing_rows, &disagreeing_turns,
                         &unclean_rows,  &first_errors[2], &judgements[0],    &judgements[1],
                         &judgements[2], &unparsed,        &replays[0],       &replays[1],
                         &replays[2],    &replays[3],      &ended_bad,        &too_long,
                         &rows,          &episodes,        &episode_turns,    &calls.steps}) {
    *count = n++;
  }
  return counts;
}

// The numbers in `json`, however deep.
void Collect(const nlohmann::ordered_json& json, std::vector<int64_t>& numbers) {
  if (json.is_number() && json != 0) numbers.push_back(json.get<int64_t>());
  if (json.is_structured()) {
    for (const auto& item : json) Collect(item, numbers);
  }
}

TEST(RevisionCounts, EveryCountIsAddedAndReported) {
  RevisionCounts sum = Numbered(1);
  sum += Numbered(100);
  std::vector<int64_t> numbers;
  Collect(ToJson(sum), numbers);
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 36; ++i) expected.push_back(101 + 2 * i);
  EXPECT_THAT(numbers, ::testing::UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace agentr
