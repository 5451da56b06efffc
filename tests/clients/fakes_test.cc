#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "clients/fake_environment.h"
#include "clients/fake_language_model.h"
#include "tests/clients/count_tokens.h"

namespace agentr {
namespace {

TEST(FakeEnvironment, TellsTaskAndActions) {
  FakeEnvironment env(/*can_expand=*/true);
  {
    auto session = env.Open().value();
    EXPECT_EQ(session->Reset(3).value(), "task 3:");
    EXPECT_EQ(session->Step("a").value().observation, "task 3: a");
    auto forks = session->Expand({"b", "c"}).value();
    EXPECT_EQ(forks[1].step.observation, "task 3: a | c");
    EXPECT_EQ(forks[1].session->Step("d").value().observation, "task 3: a | c | d");
    EXPECT_EQ(session->Step("e").value().observation, "task 3: a | e");
    EXPECT_EQ(env.live_sessions(), 3);
  }
  EXPECT_EQ(env.live_sessions(), 0);
  EXPECT_EQ(env.calls("step"), 3);
  EXPECT_EQ(env.calls("expand"), 1);
}

TEST(FakeEnvironment, AFailedStepMayHaveBeenTaken) {
  FakeEnvironment env(
      /*can_expand=*/false, FakeEnvironment::TellActions,
      [](const std::string& call, int64_t number) -> std::optional<Error> {
        if (call != "step" || number > 1) return std::nullopt;
        return Error{ErrorKind::kUnreachable, "lost", 0};
      });
  auto session = env.Open().value();
  session->Reset(0).value();
  EXPECT_EQ(session->Step("not taken").error().kind, ErrorKind::kUnreachable);
  EXPECT_FALSE(session->Step("taken"));
  EXPECT_EQ(session->Step("a").value().observation, "task 0: taken | a");
}

TEST(FakeLanguageModel, GivesItsTextsInTurnAndFailsWhereTold) {
  FakeLanguageModel model({"one", "two", "three"});
  model.FailAt(1, {ErrorKind::kTimeout, "late", 0});
  const std::vector<Message> prompt = {{"user", "hello"}};
  const auto first = model.Complete(prompt, 2, {}).value();
  EXPECT_EQ(first.completions[0].text + first.completions[1].text, "onetwo");
  EXPECT_EQ(model.Complete(prompt, 1, {}).error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(model.Complete(prompt, 1, {}).value().completions[0].text, "three");
  EXPECT_EQ(model.calls(), 3);
  EXPECT_EQ(model.prompts()[2], prompt);
}

TEST(LanguageModel, EstimatesTokens) {
  const FakeLanguageModel model({"x"});
  const std::vector<Message> prompt = {{"user", "12345678"}, {"assistant", "1"}};
  EXPECT_EQ(CountTokens(model, prompt), 4 + 2 + 4 + 1);
}

TEST(Usage, AddsUp) {
  Usage usage{1, 2, 3, 4, 5, 6, 7};
  usage += Usage{10, 20, 30, 40, 50, 60, 70};
  EXPECT_EQ(usage.requests, 11);
  EXPECT_EQ(usage.retries, 22);
  EXPECT_EQ(usage.prompt_tokens, 33);
  EXPECT_EQ(usage.cached_tokens, 44);
  EXPECT_EQ(usage.completion_tokens, 55);
  EXPECT_EQ(usage.reused_turns, 66);
  EXPECT_EQ(usage.reencoded_turns, 77);
}

}  // namespace
}  // namespace agentr
