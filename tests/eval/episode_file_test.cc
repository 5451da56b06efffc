#include "eval/episode_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "tests/common/fatal_error.h"
#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Nothing in it has its default value.
Episode FullEpisode() {
  Episode episode = HandEpisode(26, 2, 0.75, {"search[red \"lamp\"]", "click[b07]"});
  episode.end = EpisodeEnd::kMaxSteps;
  episode.error = "none, really";
  episode.model = "org/model";
  episode.seed = 0xFFFFFFFFFFFFFFF7ULL;
  episode.instruction = {{"user", "Shop.\nNow."}, {"assistant", "Ok."}};
  episode.first_observation = "WebShop\t[SEP] caf\xc3\xa9";
  episode.turns[0].response = "Thought: é.\nAction: search[red \"lamp\"]";
  episode.turns[0].observation = "Page 1";
  episode.turns[1].response = "Action: click[b07]";
  episode.turns[1].observation = "";
  episode.turns[1].refused = true;
  episode.turns[1].dropped_turns = 1;
  episode.replayed_turns = 1;
  episode.replay_differences = 1;
  episode.turns[1].token_ids = {5, 151643, 7};
  episode.turns[1].logprobs = {-0.1F, -1.2345678e-7F, -17.25F};
  episode.turns[1].weights_version = 3;
  episode.turns[1].reasoning = "apart";
  episode.cut_response = "Thought: I";
  episode.usage = {3, 1, 1000, 700, 50, 7, 9};
  episode.model_s = 0.1;
  episode.environment_s = 1.0 / 3;
  episode.wall_s = 0.5;
  return episode;
}

std::string RefusalOf(const std::string& text) {
  return FatalErrorOf(ExitCode::kFile, [&] { ReadEpisode(text, "dir/search_results_26.json"); });
}

TEST(EpisodeFile, ReadsBackWhatWasWritten) {
  const std::string options = R"({"max_steps":30,"seed":0})";
  const StoredEpisode back = ReadEpisode(WriteEpisode({FullEpisode(), options}), "x");
  EXPECT_EQ(back.episode, FullEpisode());
  EXPECT_EQ(back.options, options);
  const StoredEpisode empty = ReadEpisode(WriteEpisode({Episode(), "{}"}), "x");
  EXPECT_EQ(empty.episode, Episode());
}

TEST(EpisodeFile, AFileFromBeforeTokensWereKeptIsRead) {
  auto json = nlohmann::ordered_json::parse(WriteEpisode({FullEpisode(), "{}"}));
  for (const char* name : {"token_ids", "logprobs", "weights_version"}) {
    EXPECT_EQ(json["turns"][1].erase(name), 1U) << name;
    EXPECT_FALSE(json["turns"][0].contains(name)) << "left out where the model did not tell";
  }
  for (const char* name : {"reused_turns", "reencoded_turns"}) json["usage"].erase(name);
  Episode expected = FullEpisode();
  expected.turns[1].token_ids.clear();
  expected.turns[1].logprobs.clear();
  expected.turns[1].weights_version = 0;
  expected.usage.reused_turns = expected.usage.reencoded_turns = 0;
  EXPECT_EQ(ReadEpisode(json.dump(), "x").episode, expected);
}

TEST(EpisodeFile, LogprobsThatDoNotFitTheirTokensAreRefused) {
  auto json = nlohmann::json::parse(WriteEpisode({FullEpisode(), "{}"}));
  json["turns"][1]["logprobs"].erase(0);
  EXPECT_THAT(RefusalOf(json.dump()), HasSubstr("logprobs"));
}

TEST(EpisodeFile, HasTheFieldsOfAgentR) {
  const auto json = nlohmann::json::parse(WriteEpisode({FullEpisode(), "{}"}));
  EXPECT_EQ(json["task_id"], 26);
  EXPECT_EQ(json["env_score"], 0.75);
  EXPECT_EQ(json["model_name"].get<std::string>(), "org/model");
  EXPECT_EQ(json["step_num"], 2);
  ASSERT_EQ(json["state"].size(), 7U);
  EXPECT_EQ(json["state"][2]["role"].get<std::string>(), "user");
  EXPECT_EQ(json["state"][3]["role"].get<std::string>(), "assistant");
  EXPECT_EQ(json["state"][4]["content"].get<std::string>(), "Page 1");
}

TEST(EpisodeFile, TextThatIsNotUtf8IsWrittenAllTheSame) {
  Episode episode = FullEpisode();
  episode.turns[0].response = "cut \xc3";
  const StoredEpisode back = ReadEpisode(WriteEpisode({episode, "{}"}), "x");
  EXPECT_EQ(back.episode.turns[0].response, "cut \xef\xbf\xbd");
}

TEST(EpisodeFile, ATruncatedFileIsNamed) {
  const std::string text = WriteEpisode({FullEpisode(), "{}"});
  for (size_t size = 0; size + 2 < text.size(); size += 7) {
    EXPECT_THAT(RefusalOf(text.substr(0, size)),
                AllOf(HasSubstr("dir/search_results_26.json"), HasSubstr("move it away")))
        << size;
  }
}

TEST(EpisodeFile, AForeignFileIsNamed) {
  const auto changed = [](const std::string& key, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(WriteEpisode({FullEpisode(), "{}"}));
    json[key] = value;
    return RefusalOf(json.dump());
  };
  EXPECT_EQ(changed("seed", 7), "") << "the text is whole otherwise";
  EXPECT_THAT(RefusalOf("[1, 2]"), HasSubstr("search_results_26.json"));
  EXPECT_THAT(RefusalOf(R"({"task_id": 1, "env_score": 1, "state": []})"), HasSubstr("format"));
  EXPECT_THAT(changed("version", 2), HasSubstr("version"));
  EXPECT_THAT(changed("step_num", 3), HasSubstr("step_num"));
  EXPECT_THAT(changed("state", nlohmann::json::array()), HasSubstr("state"));
  EXPECT_THAT(changed("end", "somehow"), HasSubstr("somehow"));
  EXPECT_THAT(changed("replayed_turns", 3), HasSubstr("replayed_turns")) << "there are two turns";
  EXPECT_THAT(changed("env_score", "high"), HasSubstr("env_score"));
}

TEST(PlayedDifferences, NamesWhatDiffers) {
  EXPECT_EQ(PlayedDifferences(R"({"a":1,"b":"x"})", R"({"b":"x","a":1})", "there", "here"), "");
  EXPECT_EQ(PlayedDifferences(R"({"a":1,"b":2})", R"({"b":3,"c":"x"})", "there", "here"),
            R"(b: 2 there, 3 here; c: nothing there, "x" here; a: 1 there, nothing here)");
}

}  // namespace
}  // namespace agentr
