#include "training/distributed/job_fingerprint.h"

#include <gmock/gmock.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "tests/common/fatal_error.h"
#include "tests/training/distributed/thread_group.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

TEST(JobFingerprint, NamesEveryDifferenceWithBothValues) {
  const JobFingerprint first = {
      {"--lr", "0.003", ""}, {"--data", "h1", "a.jsonl"}, {"--zero", "1", ""}};
  JobFingerprint own = first;
  EXPECT_EQ(DifferencesFromFirst(2, own, first), "");
  own[1].shown = "elsewhere/a.jsonl";  // only what is compared counts
  EXPECT_EQ(DifferencesFromFirst(2, own, first), "");
  own = {{"--lr", "0.001", ""}, {"--data", "h2", "b.jsonl"}, {"--new", "x", ""}};
  EXPECT_EQ(
      DifferencesFromFirst(2, own, first),
      "rank 2 has --lr 0.001, rank 0 has 0.003; rank 2 has --data b.jsonl, rank 0 has "
      "a.jsonl; rank 2 has --new x, rank 0 has nothing; rank 2 has --zero nothing, rank 0 has "
      "1");
}

TEST(JobFingerprint, SurvivesItsText) {
  const JobFingerprint print = {{"--name", "\"a\"; b", ""}, {"--data", "h", "\xFF and \xC3\xA9"}};
  const JobFingerprint back = JobFingerprintOf(ToText(print));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].value, "\"a\"; b");
  EXPECT_THAT(back[1].shown, HasSubstr("\xC3\xA9"));
}

// What belongs to a machine may differ, and names of files, whose content is compared.
TEST(JobFingerprint, LeavesOutWhatMayDiffer) {
  const nlohmann::ordered_json resolved = {
      {"lr", 0.1},           {"model_threads", 2}, {"model_dir", "m"},   {"data", {"a"}},
      {"output_dir", "out"}, {"seed", 3},          {"meet_timeout", 30}, {"device", "cuda:1"}};
  std::string names;
  for (const JobFingerprintEntry& entry : OptionsFingerprint(resolved)) names += entry.name + " ";
  EXPECT_EQ(names, "--lr --seed ");
}

TEST(JobFingerprint, TheProgramIsNamed) {
  const JobFingerprint print = ProgramFingerprint();
  ASSERT_EQ(print.size(), 2u);
  EXPECT_EQ(print[0].value.size(), 64u);
  EXPECT_THAT(print[0].shown, HasSubstr(", file " + print[0].value.substr(0, 8)));
}

TEST(JobFingerprint, AllRanksRefuseWhatOneHasOtherwise) {
  std::mutex mutex;
  std::vector<std::string> messages;
  ThreadGroups::Run(3, [&](ProcessGroup& group) {
    RequireSame(&group, {{"--data", "same", ""}});
    const char* const value = group.rank() == 1 ? "h2" : "h1";
    const std::string message = FatalErrorOf(ExitCode::kUsage, [&] {
      RequireSame(&group, {{"--data", value, ""}});
    });
    const std::lock_guard lock(mutex);
    messages.push_back(message);
  });
  ASSERT_EQ(messages.size(), 3u);
  for (const std::string& message : messages) {
    EXPECT_THAT(message, HasSubstr("together: rank 1 has --data h2, rank 0 has h1. Cure"));
  }
  RequireSame(nullptr, {{"--data", "of the only process", ""}});
}

}  // namespace
}  // namespace agentr
