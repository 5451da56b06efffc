#include "training/run_state.h"

#include <gmock/gmock.h>

#include "tests/common/fatal_error.h"
#include "tests/common/json_damage.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Fingerprint kPrint = {{"--lr", "0.1"}, {"the data", "abc"}};

TEST(RunState, ComesBack) {
  const RunState state = {.step = 7, .best_held_out = 0.25, .best_step = 5};
  const RunState back = RunState::From(nlohmann::json(state.ToJson(kPrint)), kPrint, "here");
  EXPECT_EQ(back.step, 7);
  EXPECT_EQ(back.best_step, 5);
  EXPECT_EQ(back.best_held_out, 0.25);
}

TEST(RunState, OtherOptionsAreNamed) {
  const nlohmann::json saved(RunState().ToJson({{"--lr", "0.2"}, {"the data", "abc"}}));
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { RunState::From(saved, kPrint, "here"); }),
              HasSubstr("--lr differs (0.2 there, 0.1 now)"));
}

TEST(RunState, DamageIsNamedWithTheCure) {
  ForEachDamage(RunState().ToJson(kPrint), [](const auto& damaged, const std::string& what) {
    try {
      const RunState read = RunState::From(nlohmann::json(damaged), kPrint, "here");
      EXPECT_LE(read.step, 1'000'000'000) << what;
    } catch (const FatalError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("here"), Not(HasSubstr("json.exception")))) << what;
    }
  });
  nlohmann::json steps(RunState().ToJson(kPrint));
  steps["step"] = 1e300;
  EXPECT_THAT(FatalErrorOf(ExitCode::kFile, [&] { RunState::From(steps, kPrint, "here"); }),
              AllOf(HasSubstr("here/state.json: field \"step\" (number) is not an integer"),
                    HasSubstr("Cure: remove the checkpoint's folder")));
}

}  // namespace
}  // namespace agentr
