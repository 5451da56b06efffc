#include "rollout/episode_player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lm/local_language_model.h"
#include "rollout/replay_executor.h"
#include "tests/lm/small_lm.h"
#include "tests/mcts/toy_environment.h"
#include "tests/mcts/toy_model.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Call = ToyEnvironment::Call;
using Op = ToyEnvironment::Op;
using TextList = std::vector<std::string>;

// One episode with everything around it. Change the fields before Run.
struct ToyEpisode {
  // The model says these actions, one per turn, and the last one again and again.
  explicit ToyEpisode(std::vector<std::string> actions = {}) {
    options.max_steps = 10;
    options.temperature = 1;
    if (actions.empty()) return;
    model.reply = [actions, this](std::span<const Message>, int) -> Result<TextList> {
      const size_t turn = std::min(said_++, actions.size() - 1);
      return TextList{ToyModel::Response(actions[turn])};
    };
  }

  Result<Episode> Run(int task_id = 1, int attempt = 0, std::vector<EpisodeTurn> given = {}) {
    ReplayExecutor executor(task_id, pool, family, stop);
    EpisodePlayer player(options, {task_id, attempt, std::move(given)},
                         {family, model, executor, stop, [this] { ++turns_told; },
                          /*first_responses=*/nullptr, &cut_turns});
    Result<Episode> episode = player.Run();
    stats = executor.stats();
    if (episode) episode->model_s = episode->environment_s = episode->wall_s = 0;
    return episode;
  }
  Episode MustRun(int task_id = 1, int attempt = 0, std::vector<EpisodeTurn> given = {}) {
    return Run(task_id, attempt, std::move(given)).value();
  }

  ToyFamily family;
  ToyEnvironment world;
  ToyModel model{ToyActions()};
  SessionPool pool{world, 4};
  std::atomic<bool> stop = false;
  PlayOptions options;
  ExecutionStats stats;  // of the last Run
  int turns_told = 0;
  CutTurns cut_turns;

 private:
  size_t said_ = 0;
};

std::vector<std::string> Actions(const Episode& episode) {
  std::vector<std::string> actions;
  for (const EpisodeTurn& turn : episode.turns) actions.push_back(turn.action);
  return actions;
}

TEST(EpisodePlayerTest, PlaysUntilTheEnvironmentSaysDone) {
  ToyEpisode toy({"go a", "go b", "end 0.5"});
  const Episode episode = toy.MustRun(7, 3);
  EXPECT_EQ(episode.task_id, 7);
  EXPECT_EQ(episode.attempt, 3);
  EXPECT_EQ(episode.end, EpisodeEnd::kDone);
  EXPECT_EQ(episode.reward, 0.5);
  EXPECT_EQ(episode.model, "toy-model");
  EXPECT_EQ(episode.first_observation, "Goal 7.");
  EXPECT_EQ(episode.instruction, toy.family.Instruction());
  EXPECT_THAT(Actions(episode), ElementsAre("go a", "go b", "end 0.5"));
  EXPECT_EQ(episode.turns[1].observation, "task 7: go a go b");
  EXPECT_EQ(episode.turns[1].response, ToyModel::Response("go b"));
  EXPECT_EQ(episode.usage.requests, 3);
  EXPECT_EQ(episode.usage.prompt_tokens, 30 + 50 + 70);
  EXPECT_EQ(toy.turns_told, 3);
  EXPECT_EQ(toy.world.counts.resets, 1);
  EXPECT_EQ(toy.world.counts.steps, 3) << "one per turn";
  // What the last prompt showed: instruction, first observation, two turns.
  const std::vector<Message> last = toy.model.prompts().back();
  ASSERT_THAT(last, SizeIs(7));
  EXPECT_EQ(last[2], (Message{"user", "Goal 7."}));
  EXPECT_EQ(last[5], (Message{"assistant", ToyModel::Response("go b")}));
  EXPECT_EQ(last[6], (Message{"user", "task 7: go a go b"}));
}

TEST(EpisodePlayerTest, TurnsKeepTheTokensThatWereSampled) {
  ToyEpisode toy({"go a", "end 1"});
  const Episode episode = toy.MustRun();
  ASSERT_EQ(episode.turns.size(), 2U);
  for (const EpisodeTurn& turn : episode.turns) {
    EXPECT_THAT(turn.token_ids, ElementsAre(static_cast<int32_t>(turn.response.size()), 7));
    EXPECT_THAT(turn.logprobs, ElementsAre(-0.5F, -1.25F));
  }
}

// The model is in the process: the turns before go into each prompt as they were sampled.
TEST(EpisodePlayerTest, TurnsGoIntoTheNextPromptAsSampled) {
  ToyEpisode toy;
  LocalLanguageModel model(SmallModel(/*max_context=*/2000));
  toy.options.max_steps = 6;
  toy.options.max_new_tokens = 60;
  ReplayExecutor executor(1, toy.pool, toy.family, toy.stop);
  EpisodePlayer player(toy.options, {1, 0, {}}, {toy.family, model, executor, toy.stop});
  const Episode episode = player.Run().value();
  ASSERT_GT(episode.turns.size(), 2U);
  const auto turns = static_cast<int64_t>(episode.turns.size());
  EXPECT_EQ(episode.usage.reused_turns + episode.usage.reencoded_turns, turns * (turns - 1) / 2);
  EXPECT_EQ(episode.usage.reencoded_turns, 0);
  const CharacterTokenizer tokenizer;
  for (const EpisodeTurn& turn : episode.turns) {
    EXPECT_EQ(tokenizer.Decode(turn.token_ids, true), turn.response);
    EXPECT_THAT(turn.logprobs, SizeIs(turn.token_ids.size()));
  }
}

TEST(EpisodePlayerTest, EndsAfterTheTurnsAllowedWithTheRewardItHas) {
  ToyEpisode toy({"go a", "gain 0.25"});
  toy.options.max_steps = 4;
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.end, EpisodeEnd::kMaxSteps);
  EXPECT_THAT(episode.turns, SizeIs(4));
  EXPECT_EQ(episode.reward, 0.25);
}

TEST(EpisodePlayerTest, ANegativeRewardIsADisaster) {
  for (const char* action : {"gain -1", "end -0.5"}) {
    ToyEpisode toy({"gain 0.5", action, "end 1"});
    const Episode episode = toy.MustRun();
    EXPECT_EQ(episode.end, EpisodeEnd::kDone);
    EXPECT_EQ(episode.reward, 0);
    EXPECT_THAT(episode.turns, SizeIs(2));
  }
}

TEST(EpisodePlayerTest, DropsTheOldestTurnsToFitIntoTheContext) {
  ToyEpisode toy({"go a", "go b", "go c", "end 1"});
  toy.options.max_new_tokens = 10;
  toy.options.max_context = 60;  // three messages before the turns: room for one turn
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.end, EpisodeEnd::kDone);
  std::vector<int> dropped;
  for (const EpisodeTurn& turn : episode.turns) dropped.push_back(turn.dropped_turns);
  EXPECT_THAT(dropped, ElementsAre(0, 0, 1, 2));
  const std::vector<Message> last = toy.model.prompts().back();
  ASSERT_THAT(last, SizeIs(5));
  EXPECT_EQ(last[2].content, "Goal 1.");
  EXPECT_EQ(last[3].content, ToyModel::Response("go c"));
}

TEST(EpisodePlayerTest, EndsWhereNotEvenTheLastTurnFits) {
  ToyEpisode toy({"gain 0.5"});
  toy.options.max_new_tokens = 10;
  toy.options.max_context = 40;  // instruction and first observation, no turn
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.end, EpisodeEnd::kContextOverflow);
  EXPECT_TRUE(HasResult(episode.end));
  EXPECT_EQ(episode.reward, 0.5);
  EXPECT_THAT(episode.turns, SizeIs(1));
}

TEST(EpisodePlayerTest, EndsAtACutTurnWithTheRewardItHas) {
  ToyEpisode toy({"gain 0.5", "go a"});
  int said = 0;
  const auto acts = toy.model.reply;
  toy.model.finish_reason = "length";
  toy.model.reply = [&](std::span<const Message> prompt, int n) -> Result<TextList> {
    if (++said < 3) return acts(prompt, n);
    return TextList{"<think>Action: go b, or Action"};
  };
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.end, EpisodeEnd::kCutTurn);
  EXPECT_TRUE(HasResult(episode.end));
  EXPECT_EQ(episode.reward, 0);  // what the environment said last
  EXPECT_THAT(Actions(episode), ElementsAre("gain 0.5", "go a"));
  EXPECT_EQ(episode.cut_response, "<think>Action: go b, or Action");
  EXPECT_EQ(toy.world.counts.steps, 2);
  EXPECT_EQ(episode.usage.requests, 3);
  EXPECT_EQ(toy.cut_turns.count(), 1);
  toy.model.finish_reason = "stop";
  said = 0;
  EXPECT_EQ(toy.MustRun().end, EpisodeEnd::kMaxSteps) << "the model itself ended such a turn";
}

// The same in the process: the model's own limit ends the response.
TEST(EpisodePlayerTest, EndsAtACutTurnOfTheModelInTheProcess) {
  ToyEpisode toy;
  struct : ToyFamily {
    std::string ParseAction(std::string_view) const override { return ""; }
  } family;
  LocalLanguageModel model(SmallModel(/*max_context=*/2000));
  toy.options.max_new_tokens = 3;
  ReplayExecutor executor(1, toy.pool, family, toy.stop);
  EpisodePlayer player(toy.options, {1, 0, {}}, {family, model, executor, toy.stop});
  const Episode episode = player.Run().value();
  EXPECT_EQ(episode.end, EpisodeEnd::kCutTurn);
  EXPECT_THAT(episode.cut_response, SizeIs(3));
  // What was sampled can be learned from.
  EXPECT_THAT(episode.cut_ids, SizeIs(3));
  EXPECT_THAT(episode.cut_logprobs, SizeIs(3));
}

// Of two thoughts: one in the response, one that a server sends apart.
Episode Thinking3(Thinking thinking, std::vector<Message>* last_prompt) {
  ToyEpisode toy;
  toy.options.thinking = thinking;
  toy.options.max_steps = 2;
  toy.model.reasoning = "apart";
  toy.model.reply = [](std::span<const Message>, int) -> Result<TextList> {
    return TextList{"<think>\ninside\n</think>\n\nAction: go a"};
  };
  Episode episode = toy.MustRun();
  *last_prompt = toy.model.prompts().back();
  return episode;
}

TEST(EpisodePlayerTest, ThoughtsStayWhereTheOptionSays) {
  const std::string whole = "<think>\ninside\n</think>\n\nAction: go a", bare = "Action: go a";
  struct Case {
    Thinking thinking;
    std::string response, reasoning, shown, shown_apart;
    bool ids;
  };
  for (const Case& c : {Case{Thinking::kContent, whole, "", whole, "", true},
                        Case{Thinking::kKeep, whole, "apart", whole, "apart", true},
                        Case{Thinking::kStrip, bare, "", bare, "", false},
                        Case{Thinking::kStripHistory, whole, "apart", bare, "", true}}) {
    std::vector<Message> prompt;
    const Episode episode = Thinking3(c.thinking, &prompt);
    ASSERT_THAT(episode.turns, SizeIs(2));
    EXPECT_EQ(episode.turns[0].action, "go a");
    EXPECT_EQ(episode.turns[0].response, c.response) << NameOf(kThinkings, c.thinking);
    EXPECT_EQ(episode.turns[0].reasoning, c.reasoning) << NameOf(kThinkings, c.thinking);
    EXPECT_EQ(!episode.turns[0].token_ids.empty(), c.ids);
    EXPECT_EQ(prompt[3], (Message{"assistant", c.shown, c.shown_apart}))
        << NameOf(kThinkings, c.thinking);
  }
}

TEST(EpisodePlayerTest, AContextTooSmallForTheTaskIsNoResult) {
  ToyEpisode toy({"gain 0.5"});
  toy.options.max_new_tokens = 10;
  toy.options.max_context = 30;
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.end, EpisodeEnd::kModelError);
  EXPECT_THAT(episode.error, HasSubstr("--max_context"));
  EXPECT_THAT(episode.turns, IsEmpty());
}

TEST(EpisodePlayerTest, DropsFurtherWhenTheModelRefuses) {
  ToyEpisode toy;
  int calls = 0;
  toy.model.reply = [&](std::span<const Message> prompt, int) -> Result<TextList> {
    if (prompt.size() > 7) return Fail(ErrorKind::kContextLength, "too long");
    return TextList{ToyModel::Response("go " + std::to_string(calls++))};
  };
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.end, EpisodeEnd::kMaxSteps);
  EXPECT_EQ(episode.turns.back().dropped_turns, 7);
}

TEST(EpisodePlayerTest, ErrorsOfTheEnvironmentAreNoResult) {
  ToyEpisode toy({"go a", "gain 0.5", "go b"});
  toy.world.fault = FailCalls(ErrorKind::kRejected, [](const Call& call) {
    return call.op == Op::kStep && call.action == "go b";
  });
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.end, EpisodeEnd::kEnvironmentError);
  EXPECT_FALSE(HasResult(episode.end));
  EXPECT_THAT(episode.error, HasSubstr("toy fault"));
  EXPECT_THAT(episode.turns, SizeIs(2));

  toy.world.fault =
      FailCalls(ErrorKind::kRejected, [](const Call& call) { return call.op == Op::kReset; });
  EXPECT_EQ(toy.MustRun(2).end, EpisodeEnd::kEnvironmentError);
}

TEST(EpisodePlayerTest, ErrorsOfTheModelAreNoResult) {
  ToyEpisode toy;
  toy.model.reply = [](std::span<const Message> prompt, int) -> Result<TextList> {
    if (prompt.size() < 5) return TextList{"Action: go a"};
    return Fail(ErrorKind::kServer, "no GPU");
  };
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.end, EpisodeEnd::kModelError);
  EXPECT_THAT(episode.error,
              AllOf(HasSubstr(std::string(Name(ErrorKind::kServer))), HasSubstr("no GPU")));
  toy.model.reply = [](std::span<const Message>, int) -> Result<TextList> { return TextList{}; };
  EXPECT_EQ(toy.MustRun().end, EpisodeEnd::kModelError);
}

TEST(EpisodePlayerTest, AnErrorOfTheEnvironmentAfterTheModelIsTheEnvironments) {
  ToyEpisode toy({"go a"});
  toy.world.fault = FailCalls(ErrorKind::kRejected, [](const Call& call) {
    return call.op == Op::kStep && call.number == 2;
  });
  EXPECT_EQ(toy.MustRun().end, EpisodeEnd::kEnvironmentError);
}

TEST(EpisodePlayerTest, MarksWhatTheEnvironmentRefused) {
  ToyEpisode toy({"go a", "stuck", "look", "stuck", "end 1"});
  const Episode episode = toy.MustRun();
  std::vector<bool> refused;
  for (const EpisodeTurn& turn : episode.turns) refused.push_back(turn.refused);
  EXPECT_THAT(refused, ElementsAre(false, true, false, true, false));
  EXPECT_EQ(episode.turns[1].observation, episode.turns[3].observation);
}

TEST(EpisodePlayerTest, ARevisionThatChangesNothingIsAnsweredAsInTraining) {
  ToyEpisode toy({"go a", "stuck wait", "end 1"});
  toy.options.revision_action = "stuck wait";
  toy.options.revision_reply = "well done.";
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.turns[1].observation, "well done.");
  EXPECT_FALSE(episode.turns[1].refused) << "it is no mistake";
  EXPECT_EQ(episode.turns[2].observation, "task 1: go a end 1");

  ToyEpisode own({"go a", "stuck wait", "end 1"});
  own.options.revision_action = "stuck wait";
  own.options.revision_reply = "";
  EXPECT_EQ(own.MustRun().turns[1].observation, "Nothing changes by stuck wait in 1: go a");

  ToyEpisode taken({"go a", "wait", "end 1"});  // what the environment takes, it answers
  EXPECT_EQ(taken.MustRun().turns[1].observation, "task 1: go a wait");
}

TEST(EpisodePlayerTest, ObservationsBecomeOneLine) {
  ToyEpisode toy({"go a", "end 1"});
  toy.world.garble = [](std::string text, const Call&) { return text + "\nline\ttwo"; };
  const Episode episode = toy.MustRun();
  EXPECT_EQ(episode.turns[0].observation, "task 1: go a line two");
  EXPECT_EQ(episode.first_observation, "Goal 1.\nline\ttwo") << "as in the search";
}

TEST(EpisodePlayerTest, FaultsAreMadeUpFor) {
  const Episode expected = ToyEpisode().MustRun(5);
  ASSERT_GT(expected.turns.size(), 1U);
  int64_t faults = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    ToyEpisode toy;
    toy.world.fault = RandomFaults(Op::kStep, 0.2, seed);
    EXPECT_EQ(toy.MustRun(5), expected) << seed;
    faults += toy.stats.faults;
    EXPECT_EQ(toy.stats.mismatches, 0);
    EXPECT_EQ(toy.world.counts.misuses, 0);
  }
  EXPECT_GT(faults, 10);
}

TEST(EpisodePlayerTest, TheSeedsOfTurnsDependOnRunTaskAttemptAndTurn) {
  std::set<uint64_t> seeds;
  size_t turns = 0;
  for (const uint64_t seed : {0, 1}) {
    for (const int task_id : {1, 2}) {
      for (const int attempt : {0, 1}) {
        ToyEpisode toy({"go a"});
        toy.options.seed = seed;
        toy.MustRun(task_id, attempt);
        const auto samplings = toy.model.samplings();
        turns += samplings.size();
        for (const SamplingParams& sampling : samplings) {
          seeds.insert(sampling.seed);
          EXPECT_EQ(sampling.task_id, task_id);
        }
        ToyEpisode again({"go a"});
        again.options.seed = seed;
        again.MustRun(task_id, attempt);
        EXPECT_EQ(again.model.samplings().back().seed, samplings.back().seed);
      }
    }
  }
  EXPECT_EQ(turns, 80U);
  EXPECT_EQ(seeds.size(), turns) << "no two alike";
}

TEST(EpisodePlayerTest, AsksForWhatTheOptionsSay) {
  ToyEpisode toy({"end 1"});
  toy.options.temperature = 0.25;
  toy.options.top_p = 0.5;
  toy.options.max_new_tokens = 77;
  toy.options.stop = {"Observation:"};
  toy.MustRun();
  const SamplingParams sampling = toy.model.samplings().front();
  EXPECT_EQ(sampling.temperature, 0.25);
  EXPECT_EQ(sampling.top_p, 0.5);
  EXPECT_EQ(sampling.max_tokens, 77);
  EXPECT_THAT(sampling.stop, ElementsAre("Observation:"));
}

TEST(EpisodePlayerTest, StopsWhenToldTo) {
  ToyEpisode toy({"go a"});
  toy.stop = true;
  const Result<Episode> episode = toy.Run();
  ASSERT_FALSE(episode);
  EXPECT_EQ(episode.error().kind, ErrorKind::kCancelled);
}

TEST(EpisodePlayerTest, GoesOnFromGivenTurns) {
  const Episode failed = ToyEpisode({"go a", "go b", "end 0"}).MustRun();
  ToyEpisode toy({"end 1"});
  const Episode episode = toy.MustRun(1, 0, {failed.turns[0], failed.turns[1]});
  EXPECT_THAT(Actions(episode), ElementsAre("go a", "go b", "end 1"));
  EXPECT_EQ(episode.replayed_turns, 2U);
  EXPECT_EQ(episode.replay_differences, 0U);
  EXPECT_EQ(episode.reward, 1);
  EXPECT_EQ(episode.usage.requests, 1);
  EXPECT_THAT(toy.model.prompts().back(), SizeIs(7)) << "the model sees the given turns";
}

TEST(EpisodePlayerTest, GoesOnWithOtherDrawsThanThoseThatFailed) {
  ToyEpisode first({"go a"});
  const Episode failed = first.MustRun();
  ToyEpisode toy({"go a"});
  toy.MustRun(1, 0, {failed.turns[0]});
  EXPECT_NE(toy.model.samplings()[0].seed, first.model.samplings()[1].seed);
}

TEST(EpisodePlayerTest, CountsReplayedTurnsThatAreAnsweredOtherwise) {
  Episode failed = ToyEpisode({"go a", "go b", "end 0"}).MustRun();
  failed.turns[1].observation = "something else";
  const Episode episode = ToyEpisode({"end 1"}).MustRun(1, 0, {failed.turns[0], failed.turns[1]});
  EXPECT_EQ(episode.replay_differences, 1U);
  EXPECT_EQ(episode.turns[1].observation, "task 1: go a go b") << "what really was observed";
}

TEST(EpisodePlayerTest, GivenTurnsMayEndTheEpisodeAndCountAsSteps) {
  const Episode failed = ToyEpisode({"go a", "end 0.5"}).MustRun();
  ToyEpisode toy({"go b"});
  const Episode ended = toy.MustRun(1, 0, failed.turns);
  EXPECT_EQ(ended.end, EpisodeEnd::kDone);
  EXPECT_EQ(ended.replayed_turns, 2U);
  EXPECT_THAT(toy.model.prompts(), IsEmpty());

  toy.options.max_steps = 3;
  const Episode limited = toy.MustRun(1, 0, {failed.turns[0]});
  EXPECT_EQ(limited.end, EpisodeEnd::kMaxSteps);
  EXPECT_THAT(Actions(limited), ElementsAre("go a", "go b", "go b"));
}

}  // namespace
}  // namespace agentr
