#include "eval/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

// A reader of csv (RFC 4180) that knows nothing of the writer.
std::vector<std::vector<std::string>> ReadCsv(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> line;
  std::string field;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      line.push_back(std::exchange(field, ""));
      if (c == '\n') lines.push_back(std::exchange(line, {}));
    } else {
      field += c;
    }
  }
  EXPECT_TRUE(line.empty() && field.empty() && !quoted) << "the last line is whole";
  return lines;
}

std::vector<Episode> SomeEpisodes() {
  std::vector<Episode> episodes = {
      HandEpisode(10, 0, 1, {"a", "a", "wait", "b"}),
      HandEpisode(10, 1, 0.1, {"a", "b"}, EpisodeEnd::kMaxSteps),
      HandEpisode(2, 0, 0.5, {"a"}, EpisodeEnd::kContextOverflow),
      FailedEpisode(2, 1, "line 1,\nsaid \"no\""),
      FailedEpisode(3, 0, "refused", EpisodeEnd::kModelError),
      FailedEpisode(3, 1, "gone"),
  };
  for (Episode& episode : episodes) episode.usage = {4, 0, 1000, 250, 40};
  episodes[0].turns[1].refused = true;
  return episodes;
}

TEST(SummaryCsvTest, ReadsBack) {
  const auto lines = ReadCsv(SummaryCsv(SomeEpisodes(), {}));
  using Line = std::vector<std::string>;
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], (Line{"task", "attempts", "errors", "mean_reward", "successes", "mean_steps",
                            "rewards", "ends", "error"}));
  EXPECT_EQ(lines[1], (Line{"2", "2", "1", "0.5", "0", "1", "0.5 -",
                            "context_overflow environment_error", "line 1,\nsaid \"no\""}));
  EXPECT_EQ(lines[2], (Line{"3", "2", "2", "", "0", "", "- -", "model_error environment_error",
                            "refused; gone"}));
  EXPECT_EQ(lines[3], (Line{"10", "2", "0", "0.55", "1", "3", "1 0.1", "done max_steps", ""}));
}

TEST(SummaryTest, TheOrderAndTheTimesOfEpisodesDoNotShow) {
  std::vector<Episode> episodes = SomeEpisodes();
  const MetricOptions options;
  const std::string csv = SummaryCsv(episodes, options);
  const std::string json = SummaryJson(Measure(episodes, options), 6).dump(2);
  const std::string table = SummaryTable(Measure(episodes, options), 6);
  std::ranges::reverse(episodes);
  for (Episode& episode : episodes) episode.wall_s = episode.model_s = 17.5;
  EXPECT_EQ(SummaryCsv(episodes, options), csv);
  EXPECT_EQ(SummaryJson(Measure(episodes, options), 6).dump(2), json);
  EXPECT_EQ(SummaryTable(Measure(episodes, options), 6), table);
}

TEST(SummaryTest, TheTableToTheLetter) {
  EvalMetrics metrics = Measure(SomeEpisodes(), {});
  metrics.reward = {0.525, 0.5, 0.55, 2};
  metrics.success = {0.25, 0, 0.5, 2};
  EXPECT_EQ(SummaryTable(metrics, 8),
            "episodes            6 of 8 requested, 3 tasks\n"
            "ended               done 1, max_steps 1, context_overflow 1, environment_error 2 (not "
            "counted below), model_error 1 (not counted below)\n"
            "INCOMPLETE          5 have no result yet; episodes that end early are "
            "over-represented, so the numbers are biased\n"
            "mean reward         0.525 [0.500, 0.550], 95 % interval over tasks\n"
            "success rate        25.0 % [0.0, 50.0], 1 episodes\n"
            "avg@2 (reward)      0.550\n"
            "pass@k (success)    k=1 0.250, k=2 1.000 (1 tasks)\n"
            "steps per episode   2.3\n"
            "refused steps       14.3 %\n"
            "tokens per episode  1000 prompt (25.0 % cached), 40 completion\n"
            "loops               in 33.3 % of the episodes; repetitions per episode by length 1: "
            "0.33\n"
            "revisions           1 in 1 episodes, the first after 2.0 steps; 1 directly after "
            "refused steps, of which there were 1 runs\n");
}

TEST(SummaryTest, NothingToMeasureIsSaidNotInvented) {
  const EvalMetrics metrics = Measure(std::vector{FailedEpisode(3, 0, "gone")}, {});
  EXPECT_EQ(SummaryTable(metrics, 1),
            "episodes            1 of 1 requested, 1 tasks\n"
            "ended               environment_error 1 (not counted below)\n"
            "INCOMPLETE          1 have no result yet; episodes that end early are "
            "over-represented, so the numbers are biased\n");
  const nlohmann::ordered_json json = SummaryJson(metrics, 1);
  EXPECT_TRUE(json.at("reward").is_null());
  EXPECT_TRUE(json.at("mean_steps").is_null());
  EXPECT_EQ(SummaryTable(Measure({}, {}), 0), "episodes            0 of 0 requested, 0 tasks\n");
}

TEST(SummaryTest, TheJsonHoldsTheNumbers) {
  const EvalMetrics metrics = Measure(SomeEpisodes(), {});
  const nlohmann::ordered_json json = SummaryJson(metrics, 3);
  EXPECT_EQ(json.at("asked_for").get<int>(), 3);
  EXPECT_TRUE(json.at("complete").get<bool>());
  EXPECT_FALSE(SummaryJson(metrics, 6).at("complete").get<bool>());
  EXPECT_EQ(json.at("ends").at("max_steps").get<int>(), 1);
  EXPECT_EQ(json.at("ends").at("environment_error").get<int>(), 2);
  EXPECT_FALSE(json.at("ends").contains("cut_turn")) << "as in summaries of earlier releases";
  std::vector<Episode> episodes = SomeEpisodes();
  episodes[2].end = EpisodeEnd::kCutTurn;
  const EvalMetrics cut = Measure(episodes, {});
  EXPECT_EQ(SummaryJson(cut, 8).at("ends").at("cut_turn"), 1);
  EXPECT_THAT(SummaryTable(cut, 8), testing::HasSubstr("cut_turn 1"));
  EXPECT_EQ(json.at("reward").at("mean").get<double>(), metrics.reward.mean);
  EXPECT_EQ(json.at("reward").at("high").get<double>(), metrics.reward.high);
  EXPECT_EQ(json.at("attempts").at(1).at("k").get<int>(), 2);
  EXPECT_EQ(json.at("attempts").at(1).at("pass").get<double>(), 1);
  EXPECT_EQ(json.at("repeats_by_length").at(0).get<int>(), 1);
  EXPECT_EQ(json.at("refused_steps").get<int>(), 1);
  EXPECT_EQ(json.at("prompt_tokens").get<int>(), 3000);
}

}  // namespace
}  // namespace agentr
