#include "rollout/env_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "clients/fake_environment.h"
#include "common/text.h"
#include "tasks/task_file.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Checked {
  std::string said;
  bool works = false;
};

// Checks `world` by a task file with the instruction and `rules`.
Checked Check(const FakeEnvironment::World& world, const std::string& rules, bool forks = true) {
  static int kinds = 0;
  const std::string name = fmt::format("checked_{}", kinds++);
  RegisterTaskKind(ReadTaskFile(
      fmt::format("[task]\nname = \"{}\"\ninstruction = \"x\"\n{}", name, rules), name));
  FakeEnvironment environment(forks, world);
  const EnvCheckReport report = CheckEnvironment({}, name, environment);
  return {fmt::format("{}", fmt::join(report.lines, "\n")), report.works};
}

// A shop whose page does not show which colour was chosen; red is what is wanted.
StepResult Shop(int /*task*/, const std::vector<std::string>& actions) {
  const std::string start = "Buy red shoes [SEP] Search",
                    item = "< Prev [SEP] Red [SEP] Blue [SEP] Buy";
  std::string page = start, colour;
  double reward = 0;
  bool done = false;
  for (const std::string& action : actions) {
    if (page == start && action == "search[shoes]") page = item;
    if (page != item) continue;
    if (action == "click[Red]" || action == "click[Blue]") colour = action;
    if (action == "click[< Prev]") page = start;
    done = action == "click[Buy]";
    if (done) reward = colour == "click[Red]" ? 1 : 0.5;
  }
  return {done ? "Thank you [SEP] Bye" : page, reward, done};
}

constexpr const char* kShop = R"([action]
examples = ["search[shoes]"]
offered = '(?s)\A.* \[SEP\] .*\z'
offered_between = " [SEP] "
offered_as = "click[{offered}]"
[judgement]
)";
constexpr const char* kOffers = R"(
must_be_offered = '\Aclick\[(.+)\]'
need_not_be_offered = '\Asearch\['
labels = ["Search", "Buy red shoes"]
)";

TEST(EnvCheck, PlaysWhatIsOfferedUntilTheTaskEnds) {
  for (const bool forks : {false, true}) {
    const Checked checked = Check(Shop, std::string(kShop) + kOffers, forks);
    EXPECT_TRUE(checked.works) << checked.said;
    EXPECT_THAT(checked.said,
                AllOf(HasSubstr("rewards from 0 to 1;"), HasSubstr("6 of 6 random episodes ended"),
                      HasSubstr("of the refusals because the action is not offered"),
                      HasSubstr("that are said to change nothing the others have")));
  }
}

TEST(EnvCheck, AnEqualObservationIsNotAnEqualState) {
  const Checked checked =
      Check(Shop, std::string(kShop) + "same_observation_is_unchanged = true\n" + kOffers);
  EXPECT_FALSE(checked.works);
  EXPECT_THAT(checked.said, AllOf(HasSubstr("same_observation_is_unchanged = false"),
                                  HasSubstr("click[Red]"), Not(HasSubstr("narrow"))));
}

TEST(EnvCheck, WhatIsSaidToChangeNothingIsNamed) {
  const std::string wrong = std::string(kShop) + "unchanged = '^< Prev'\n" + kOffers;
  EXPECT_THAT(Check(Shop, wrong).said,
              HasSubstr("narrow the pattern of [judgement] unchanged, \"^< Prev\""));
  std::string label = std::string(kShop) + "must_be_offered = '^click.(.+).'\nlabels = ['Red']\n";
  ReplaceAll(label, "\"search[shoes]\"", "\"search[shoes]\", \"click[Red]\"");
  EXPECT_THAT(Check(Shop, label).said, AllOf(HasSubstr("the file says that \"click[Red]\""),
                                             HasSubstr("it is said not to be offered")));
}

// Of all begins the last word is another one.
TEST(EnvCheck, WhereTextsDifferLateTheDifferenceIsShown) {
  const auto begun = std::make_shared<int>(0);
  const Checked checked = Check(
      [begun](int, const std::vector<std::string>& actions) {
        if (!actions.empty()) return StepResult{"moved " + actions.back()};
        return StepResult{std::string(400, 'x') + fmt::format(" day {}", ++*begun)};
      },
      "[action]\nexamples = [\"go\", \"wait\"]\n");
  EXPECT_FALSE(checked.works);
  EXPECT_THAT(checked.said,
              AllOf(HasSubstr("does not always begin the same: \"…"), HasSubstr("day 1\" and \"…"),
                    HasSubstr("day 2\""), Not(HasSubstr("went another way")),
                    Not(HasSubstr("the action of a revision, "))));
}

TEST(EnvCheck, ABeginThatDiffersNowAndThenIsNoFaultOfAnAction) {
  const auto begun = std::make_shared<int>(0);
  const Checked checked = Check(
      [begun](int, const std::vector<std::string>& actions) {
        if (actions.empty() && ++*begun > 12) return StepResult{"another begin"};
        return StepResult{fmt::format("step {} of {}", actions.size(), *begun)};
      },
      "[action]\nexamples = [\"go\", \"wait\"]\n[judgement]\nreadings = ['\\d+']\n", false);
  EXPECT_FALSE(checked.works);
  EXPECT_THAT(checked.said, AllOf(HasSubstr("does not always begin the same"),
                                  Not(HasSubstr("moves the episode"))));
}

TEST(EnvCheck, StepsThatDifferAreNotBlamedOnTheActionOfARevision) {
  const auto taken = std::make_shared<int>(0);
  const Checked checked = Check(
      [taken](int, const std::vector<std::string>& actions) {
        if (actions.empty()) return StepResult{"A clock."};
        return StepResult{std::string(300, '-') + fmt::format(" it is {} now", ++*taken)};
      },
      "[action]\nexamples = [\"look\"]\n", false);
  EXPECT_FALSE(checked.works);
  EXPECT_THAT(checked.said, AllOf(HasSubstr("6 of 6 replayed episodes went another way"),
                                  HasSubstr("it is 1 now"), HasSubstr("no episode repeats"),
                                  Not(HasSubstr("moves the episode"))));
}

TEST(EnvCheck, ForksMayHaveOtherReadings) {
  const auto taken = std::make_shared<int>(0);
  const Checked checked = Check(
      [taken](int, const std::vector<std::string>& actions) {
        return StepResult{fmt::format("step {}, {} seconds", actions.size(), ++*taken)};
      },
      "[action]\nexamples = [\"go\", \"wait\"]\n[judgement]\nreadings = ['\\d+ seconds']\n");
  EXPECT_THAT(checked.said, AllOf(HasSubstr("/expand makes forks that have the same answers"),
                                  Not(HasSubstr("forks with other answers"))));
}

TEST(EnvCheck, WhereNothingChangesNothingWillWork) {
  const Checked checked = Check([](int, const auto&) { return StepResult{"A wall."}; },
                                "[action]\nexamples = [\"go\", \"push\"]\n");
  EXPECT_FALSE(checked.works);
  EXPECT_THAT(checked.said, HasSubstr("every action changed nothing"));
}

TEST(EnvCheck, WhatIsTakenThoughItIsNotOfferedIsNamed) {
  const Checked checked =
      Check(Shop, std::string(kShop) +
                      "must_be_offered = '\\Aclick\\[(.+)\\]'\nlabels = ['Bue']\n"
                      "need_not_be_offered = '^find'\n");
  EXPECT_THAT(checked.said, HasSubstr("\"search[shoes]\" is not offered by what [judgement]"));
}

}  // namespace
}  // namespace agentr
