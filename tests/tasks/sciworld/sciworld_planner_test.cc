#include "tasks/sciworld/sciworld_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "clients/env/gold_source.h"
#include "clients/fake_environment.h"
#include "tasks/sciworld/sciworld_family.h"
#include "tasks/sciworld/sciworld_mistakes.h"
#include "tasks/scripted_model.h"
#include "tests/clients/expect_error.h"
#include "tests/tasks/scripted_samples.h"
#include "tests/tasks/small_sciworld.h"

namespace agentr {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Actions = std::vector<std::string>;

class SmallGold : public GoldSource {
 public:
  Result<std::vector<std::string>> GoldFor(int task_id) override {
    return SmallSciWorld(task_id).Gold();
  }
};

SmallGold gold;

std::unique_ptr<LanguageModel> SciWorldPlanner(double error_rate, GoldSource* source = &gold) {
  return MakeScriptedModel("planner", SciWorldFamily(), {.error_rate = error_rate}, source);
}

// A conversation about task `task` of the small house.
std::vector<Message> SciWorldConversation(int task_id, const Actions& actions = {}) {
  const SmallSciWorld world(task_id);
  return Conversation(SciWorldFamily(), world, world.TaskDescription() + "\n" + world.Look(),
                      actions);
}

std::string SciWorldPlan(int task_id, const Actions& actions = {}) {
  const Actions steps = SciWorldSteps(SmallSciWorld(task_id).Gold());
  return PlanSciWorld(ReadSciWorld(SciWorldConversation(task_id, actions)).value(), steps);
}

// Of task 2.
Actions SciWorldActions(LanguageModel& model, const std::vector<Message>& prompt, int n,
                        uint64_t seed) {
  return ActionsIn(SciWorldFamily(), SampledTexts(model, prompt, n, seed, 2));
}

PlayedEpisode PlaySciWorld(LanguageModel& model, int task_id, PlayedOptions options) {
  SmallSciWorld world(task_id);
  options.task_id = task_id;
  return PlayEpisode(model, SciWorldFamily(), world, world.TaskDescription() + "\n" + world.Look(),
                     options);
}

TEST(SciWorldPlanner, TakesTheFirstStepThatWasNotTaken) {
  EXPECT_EQ(SciWorldPlan(2), "open door to greenhouse");
  EXPECT_EQ(SciWorldPlan(2, {"open door to greenhouse"}), "go to greenhouse");
  EXPECT_EQ(SciWorldPlan(2, {"look around", "OPEN door to greenhouse", "wait"}), "go to greenhouse")
      << "whatever comes between";
}

TEST(SciWorldPlanner, GoesBackFromWhereAMistakeHasLed) {
  EXPECT_EQ(SciWorldPlan(2, {"go to kitchen"}), "go to hallway");
  EXPECT_EQ(SciWorldPlan(2, {"go to kitchen", "go to hallway"}), "open door to greenhouse");
  EXPECT_EQ(SciWorldPlan(2, {"go to kitchen", "pick up red apple"}), "go to hallway");
}

TEST(SciWorldPlanner, GivesAWayBackUp) {
  SciWorldView view;
  view.room = "kitchen";
  view.start = "cellar";
  const Actions steps = {"focus on fern"};
  Actions plans;
  for (int turn = 0; turn < 4; ++turn) {
    plans.push_back(PlanSciWorld(view, steps));
    view.actions.push_back(plans.back());
  }
  EXPECT_THAT(plans,
              ElementsAre("go to cellar", "open door to cellar", "go to cellar", "focus on fern"));
}

TEST(SciWorldPlanner, AnswersAmbiguousRequests) {
  EXPECT_EQ(SciWorldPlan(2, {"go to kitchen", "pick up apple"}), "0");
  SciWorldView view;
  const Actions steps = {"pick up apple", "1", "wait"};
  view.actions = {"pick up apple"};
  EXPECT_EQ(PlanSciWorld(view, steps), "wait") << "nobody has asked";
  view.ambiguous = true;
  EXPECT_EQ(PlanSciWorld(view, steps), "1");
}

TEST(SciWorldPlanner, FindsItsPlaceWhenTheOldestTurnsWereCut) {
  const Actions steps = {"a", "b", "c", "d", "e", "f", "a", "g"};
  EXPECT_EQ(SciWorldStepsTaken(steps, Actions{}), 0u);
  EXPECT_EQ(SciWorldStepsTaken(steps, Actions{"a", "x", "b"}), 2u);
  EXPECT_EQ(SciWorldStepsTaken(steps, Actions{"b"}), 0u) << "a step ahead, not yet a proof";
  EXPECT_EQ(SciWorldStepsTaken(steps, Actions{"c", "d", "x", "e"}), 5u);
  EXPECT_EQ(SciWorldStepsTaken(steps, Actions{"e", "f", "a", "g"}), 8u);
  EXPECT_EQ(SciWorldStepsTaken(Actions{}, Actions{"a"}), 0u);
}

TEST(SciWorldPlanner, SkipsWhatOnlyTells) {
  EXPECT_THAT(SciWorldSteps(Actions{"look around", "a", "inventory", "task", "look at b"}),
              ElementsAre("a", "look at b"));
  EXPECT_EQ(PlanSciWorld(SciWorldView{}, Actions{}), "look around") << "when nothing is left";
}

TEST(SciWorldPlannerModel, WithoutMistakesSolvesEveryTask) {
  for (int task_id = 0; task_id < SmallSciWorld::kTasks; ++task_id) {
    const PlayedEpisode episode = PlaySciWorld(*SciWorldPlanner(0), task_id, {.max_steps = 25});
    EXPECT_EQ(episode.reward, 1) << task_id;
    EXPECT_EQ(episode.actions, SciWorldSteps(SmallSciWorld(task_id).Gold())) << task_id;
  }
}

TEST(SciWorldPlannerModel, SpreadsItsRewards) {
  const auto model = SciWorldPlanner(ScriptedOptions().error_rate);
  std::map<double, int> rewards;
  for (int task_id = 0; task_id < SmallSciWorld::kTasks; ++task_id) {
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      ++rewards[PlaySciWorld(*model, task_id, {.max_steps = 12, .seed = seed}).reward];
    }
  }
  EXPECT_GT(rewards[1], 60);
  EXPECT_LT(rewards[1], 270);
  EXPECT_GT(rewards[-1], 5) << "the wrong focus";
  EXPECT_GE(rewards.size(), 4u) << "between nothing and all";
}

TEST(SciWorldPlannerModel, ErrsAtItsRate) {
  const Actions actions = SciWorldActions(*SciWorldPlanner(0.25), SciWorldConversation(2), 2000, 7);
  EXPECT_NEAR(ShareWrong(actions, "open door to greenhouse"), 0.25, 0.03);
}

TEST(SciWorldPlannerModel, ASampleDependsOnlyOnPromptSeedAndIndex) {
  ExpectSamplesOfSeedAndIndex(*SciWorldPlanner(0.5), *SciWorldPlanner(0.5),
                              SciWorldConversation(2, {"open door to greenhouse"}), 2);
}

TEST(SciWorldPlannerModel, SaysWhatItLacks) {
  EXPECT_THROW(SciWorldPlanner(0, nullptr), FatalError);
  ExpectError(SciWorldPlanner(0)->Complete(SciWorldConversation(0), 1, {}), ErrorKind::kRejected);
  const std::vector<Message> other = {{"user", "Buy a blue shirt."}};
  ExpectError(SciWorldPlanner(0)->Complete(other, 1, {}), ErrorKind::kRejected, "SciWorld");
}

TEST(SciWorldMistakes, AreManyAndNeverWhatWasMeant) {
  const std::vector<Actions> places = {{},
                                       {"open door to greenhouse", "go to greenhouse"},
                                       {"go to kitchen", "look around"},
                                       {"go to kitchen", "look around", "dance"}};
  for (const Actions& place : places) {
    const auto messages = SciWorldConversation(2, place);
    const auto view = ReadSciWorld(messages);
    const std::string meant = SciWorldPlan(2, place);
    const auto mistakes = Drawn([&](RandomStream& random) {
      return SciWorldMistake(*view, meant, "skipped step", random);
    });
    EXPECT_FALSE(mistakes.contains(meant));
    EXPECT_TRUE(mistakes.contains("skipped step"));
    EXPECT_GE(mistakes.size(), 20u) << meant;
    EXPECT_EQ(mistakes.contains("dance"), !view->failed_action.empty());
    EXPECT_EQ(mistakes.contains("focus on red apple"), view->room == "kitchen");
    EXPECT_EQ(mistakes.contains("go to workshop"), view->Here().doors.empty())
        << "guessed only where it has not looked";
  }
}

TEST(SciWorldRandomModel, ActsOnWhatItSeesWithoutAnyGold) {
  const auto model = MakeScriptedModel("random", SciWorldFamily(), {});
  const auto prompt =
      SciWorldConversation(2, {"go to kitchen", "look around", "pick up red apple"});
  const Actions actions = SciWorldActions(*model, prompt, 600, 3);
  EXPECT_THAT(actions, IsSupersetOf({"go to hallway", "pick up green apple", "focus on red apple",
                                     "look around", "wait1", "move red apple to red box"}));
  EXPECT_THAT(actions, Not(Contains("go to greenhouse"))) << "no such door";
}

// An environment whose sessions tell as gold the task they were reset to.
class TellingEnvironment : public FakeEnvironment {
 public:
  using FakeEnvironment::FakeEnvironment;
  Result<std::unique_ptr<Session>> Open() override {
    auto inner = FakeEnvironment::Open();
    if (!inner) return inner;
    return std::make_unique<TellingSession>(std::move(*inner));
  }

 private:
  struct TellingSession : Session {
    explicit TellingSession(std::unique_ptr<Session> fake) : inner(std::move(fake)) {}
    Result<std::string> Reset(int task_id) override {
      return first = inner->Reset(task_id).value_or("");
    }
    Result<StepResult> Step(std::string_view action) override { return inner->Step(action); }
    Result<std::vector<Fork>> Expand(const Actions& actions) override {
      return inner->Expand(actions);
    }
    Result<Actions> Query(std::string_view extension) override {
      if (first.empty()) return Fail(ErrorKind::kUnreachable, "gone");
      return Actions{std::string(extension), first};
    }
    std::unique_ptr<Session> inner;
    std::string first;
  };
};

TEST(SessionGold, AsksOncePerTask) {
  auto environment = std::make_unique<TellingEnvironment>(false);
  const FakeEnvironment& counts = *environment;
  SessionGold source(std::move(environment));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_THAT(source.GoldFor(i % 2).value(),
                  ElementsAre("gold", i % 2 == 0 ? "task 0:" : "task 1:"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts.calls("open"), 2);
  EXPECT_EQ(counts.live_sessions(), 0) << "it closes what it opened";
}

TEST(SessionGold, DoesNotRememberFaults) {
  const auto once = [](const std::string& call, int64_t number) -> std::optional<Error> {
    if (call != "reset" || number > 0) return std::nullopt;
    return Error{ErrorKind::kUnreachable, "no", 0};
  };
  SessionGold source(
      std::make_unique<TellingEnvironment>(false, FakeEnvironment::TellActions, once));
  EXPECT_FALSE(source.GoldFor(3));
  EXPECT_THAT(source.GoldFor(3).value(), ElementsAre("gold", "task 3:"));
}

}  // namespace
}  // namespace agentr
