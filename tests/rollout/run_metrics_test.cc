#include "rollout/run_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "servers/http/http_service.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(RunMetrics, TellsTheStateAndTheCosts) {
  RunReport costs;
  costs.usage.prompt_tokens = 1234;
  costs.execution.steps = 56;
  const std::string text = MetricsText("trees", "nodes", {10, 3, 2, 1, 78, 0, 9.5, ""}, costs);
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("# TYPE agentr_run_tasks gauge\nagentr_run_tasks 10\n"),
            HasSubstr("\nagentr_run_done_total 3\n"), HasSubstr("\nagentr_run_failed_total 2\n"),
            HasSubstr("\nagentr_run_skipped_total 1\n"), HasSubstr("\nagentr_run_units_total 78\n"),
            HasSubstr("\nagentr_run_seconds_total 9\n"),
            HasSubstr("\nagentr_run_model_prompt_tokens_total 1234\n"),
            HasSubstr("\nagentr_run_environment_steps_total 56\n")));
}

TEST(RunMetrics, APortThatIsTakenIsAnError) {
  HttpService other({.port = 0});
  other.Start();
  const auto take = [&] { const RunMetrics metrics(other.port(), [] { return std::string(); }); };
  EXPECT_NE(FatalErrorOf(ExitCode::kUsage, take), "");
}

}  // namespace
}  // namespace agentr
