#include "tasks/scripted_model.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "common/options.h"
#include "common/random.h"
#include "tasks/scripted_policy.h"

namespace agentr {
namespace {

// The common part of both models: reads the prompt once, draws each sample from its own random
// stream, and counts the usage.
class ScriptedModel : public LanguageModel {
 public:
  ScriptedModel(ScriptedPolicy policy, std::chrono::milliseconds delay)
      : policy_(std::move(policy)), delay_(delay) {}

  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override {
    if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
    AGENTR_ASSIGN_OR_RETURN(const std::unique_ptr<PolicyState> state,
                            policy_.read(prompt, sampling.task_id));
    if (state == nullptr) {
      return Fail(ErrorKind::kRejected,
                  fmt::format("the model \"{}\" plays {} here, and the prompt shows no task of it",
                              name(), policy_.title));
    }
    CompletionBatch batch;
    batch.usage.requests = 1;
    batch.usage.prompt_tokens = EstimateTokens(prompt);
    const RandomStream stream(sampling.seed);
    for (int i = 0; i < n; ++i) {
      RandomStream random = stream.Split(static_cast<uint64_t>(i));
      const std::string action = Act(*state, random);
      std::string text =
          fmt::format("Thought: {}\nAction: {}", state->Thought(action, random), action);
      batch.usage.completion_tokens += static_cast<int64_t>(text.size() + 3) / 4;
      batch.completions.push_back({std::move(text), "stop", {}, {}});
    }
    return batch;
  }

 protected:
  virtual std::string Act(PolicyState& state, RandomStream& random) const = 0;

 private:
  const ScriptedPolicy policy_;
  const std::chrono::milliseconds delay_;
};

class RandomModel : public ScriptedModel {
 public:
  using ScriptedModel::ScriptedModel;
  std::string name() const override { return "random"; }

 protected:
  std::string Act(PolicyState& state, RandomStream& random) const override {
    return state.AnyAction(random);
  }
};

class PlannerModel : public ScriptedModel {
 public:
  PlannerModel(ScriptedPolicy policy, std::chrono::milliseconds delay, double error_rate)
      : ScriptedModel(std::move(policy), delay), error_rate_(error_rate) {}
  std::string name() const override { return "planner"; }
  std::string identity() const override { return fmt::format("error rate {}", error_rate_); }

 protected:
  std::string Act(PolicyState& state, RandomStream& random) const override {
    const double mistake = 1 - std::pow(1 - error_rate_, 1 + 2 * state.wasted_turns());
    return random.Chance(mistake) ? state.Mistake(random) : state.Plan();
  }

 private:
  const double error_rate_;
};

}  // namespace

void Declare(OptionSet& set, ScriptedOptions& options) {
  set.Group("Scripted models");
  set.Add("--planner_error_rate", options.error_rate,
          "Share of turns in which the model \"planner\" makes a mistake")
      .Range(0, 1);
  set.Add("--model_delay_ms", options.delay_ms,
          "Milliseconds that a scripted model sleeps per request")
      .Min(0)
      .OnlySpeed();
}

std::unique_ptr<LanguageModel> MakeScriptedModel(std::string_view name, const TaskFamily& family,
                                                 const ScriptedOptions& options, GoldSource* gold) {
  if (name != "random" && name != "planner") return nullptr;
  const bool by_gold = name == "planner" && PlansByGold(family.name());
  if (by_gold && gold == nullptr) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("the model \"planner\" needs the solutions of {} tasks, which are "
                                 "not available here; name another model",
                                 family.name()));
  }
  std::optional<ScriptedPolicy> policy =
      MakeScriptedPolicy(family.name(), by_gold ? gold : nullptr);
  if (!policy) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("the model \"{}\" does not play {}; name a language model: --llm_base "
                    "http://host:port/v1 with --model_name, or --model_dir",
                    name, family.name()));
  }
  const std::chrono::milliseconds delay(options.delay_ms);
  if (name == "random") return std::make_unique<RandomModel>(*std::move(policy), delay);
  return std::make_unique<PlannerModel>(*std::move(policy), delay, options.error_rate);
}

}  // namespace agentr
