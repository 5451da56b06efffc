// Slips of every kind in the built-in worlds, on embedded servers and on a small SciWorld without
// Java.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "clients/env/gold_source.h"
#include "clients/env/http_environment.h"
#include "eval/evaluator.h"
#include "rollout/slips.h"
#include "tasks/scripted_model.h"
#include "tasks/scripted_policy.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/env/small_sciworld_server.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

struct Case {
  std::string task;
  SlipKind kind;
};

// A world with a player that makes mistakes.
class SlippingWorld {
 public:
  explicit SlippingWorld(const std::string& task) : family_(MakeTaskFamily(task)) {
    if (task == "sciworld") {
      house_ = std::make_unique<SmallSciWorldServer>();
    } else {
      server_ = StartServer(task);
    }
    const std::string url = house_ ? house_->url() : server_->base_url();
    const HttpOptions http = EnvironmentOptions::ManyConnections();
    environment_ =
        std::make_unique<HttpEnvironment>(MakeProtocol(task), std::vector<Secret>{url}, http);
    if (PlansByGold(task)) gold_ = MakeHttpGold(MakeProtocol(task), {url}, http);
    model_ = MakeScriptedModel("planner", *family_, {.error_rate = 0.2}, gold_.get());
    play_.max_steps = 12;
    play_.temperature = 1;
    play_.revision_action = family_->RevisionAction();
  }

  std::vector<Episode> Play(const SlipOptions& slips, int in_flight = 8) {
    const ScratchFolder folder;
    FileEpisodeStore store(folder.path(), "{}");
    PlayOptions play = play_;
    play.slips = slips;
    ParallelismOptions parallelism;
    parallelism.in_flight = in_flight;
    std::vector<EpisodeStart> starts;
    for (int task = 0; task < 4; ++task) {
      for (int attempt = 0; attempt < 2; ++attempt) starts.push_back({task, attempt, {}});
    }
    std::atomic<bool> stop = false;
    const EvaluatorReport report =
        Evaluator(*family_, *environment_, *model_, store, play, parallelism).Run(starts, stop);
    EXPECT_TRUE(report.failed.empty()) << report.failed.front().error;
    EXPECT_EQ(report.execution.mismatches, 0);
    std::vector<Episode> episodes = store.Load();
    EXPECT_EQ(episodes.size(), starts.size());
    for (Episode& e : episodes) e.model_s = e.environment_s = e.wall_s = 0;
    return episodes;
  }

  const TaskFamily& family() const { return *family_; }

 private:
  std::unique_ptr<TaskFamily> family_;
  std::unique_ptr<SmallSciWorldServer> house_;
  std::unique_ptr<EnvServer> server_;
  std::unique_ptr<HttpEnvironment> environment_;
  std::unique_ptr<GoldSource> gold_;
  std::unique_ptr<LanguageModel> model_;
  PlayOptions play_;
};

class SlipWorlds : public ::testing::TestWithParam<Case> {};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* task : {"textcraft", "webshop", "babyai", "sciworld", "detective"}) {
    for (const auto& [name, kind] : kSlipKinds) cases.push_back({task, kind});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Worlds, SlipWorlds, ::testing::ValuesIn(Cases()), [](const auto& test) {
  return fmt::format("{}_{}", test.param.task, NameOf(kSlipKinds, test.param.kind));
});

TEST_P(SlipWorlds, WithProbabilityOneTurnsSlipAsTheirKindSays) {
  SlippingWorld world(GetParam().task);
  int slips = 0, missed = 0, shown = 0;
  for (const Episode& episode : world.Play({1, GetParam().kind, SlipShown::kDone})) {
    for (const EpisodeTurn& turn : episode.turns) {
      missed += turn.missed_slip;
      if (!turn.slip) continue;
      ++slips;
      EXPECT_EQ(turn.slip->lost, GetParam().kind == SlipKind::kLost);
      EXPECT_EQ(turn.refused, GetParam().kind == SlipKind::kRefused) << turn.observation;
      EXPECT_EQ(turn.observation == kNothingHappened, turn.slip->lost);
      EXPECT_EQ(turn.action == turn.slip->said, turn.slip->lost) << turn.action;
      shown += world.family().ParseAction(turn.response) == turn.action;
    }
    EXPECT_NE(episode.end, EpisodeEnd::kEnvironmentError);
  }
  EXPECT_EQ(shown, slips) << "the conversation shows what was done";
  // A planner is often sure of its action, and errs in ways that the world refuses. Where TextCraft
  // has one command, or a room of the detective one door, that action may be the one that is said.
  const bool plausible = GetParam().kind == SlipKind::kPlausible;
  EXPECT_GT(slips, plausible ? 1 : 20);
  if (!plausible) {
    EXPECT_LE(5 * missed, slips);
  }
}

TEST_P(SlipWorlds, EpisodesDoNotDependOnTheNumberOfWorkers) {
  SlippingWorld world(GetParam().task);
  const SlipOptions slips = {0.4, GetParam().kind, SlipShown::kSaid};
  const std::vector<Episode> expected = world.Play(slips, 1);
  EXPECT_EQ(world.Play(slips, 8), expected);
  EXPECT_NE(world.Play({}, 8), expected);
  int slipped = 0;
  for (const Episode& episode : expected) {
    for (const EpisodeTurn& turn : episode.turns) {
      if (!turn.slip) continue;
      ++slipped;
      EXPECT_EQ(world.family().ParseAction(turn.response), turn.slip->said)
          << "the conversation shows what was said";
    }
  }
  EXPECT_GT(slipped, 0);
}

}  // namespace
}  // namespace agentr
