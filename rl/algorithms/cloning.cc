// Behaviour cloning, and filtered behaviour cloning offline and online.
#include <fmt/format.h>

#include "common/error.h"
#include "rl/algorithms/weighted_step.h"
#include "rl/losses/returns.h"
#include "rl/rl_context.h"
#include "training/trainer.h"

namespace agentr {
namespace {

class Cloning : public Algorithm {
 public:
  Cloning(RlContext& context, bool filtered)
      : context_(context),
        o_(context.options()),
        filtered_(filtered),
        online_(o_.experience.transitions.empty() && o_.experience.player == "policy"),
        trainer_(context.policy().network(), o_.adamw, {}, context.group()),
        recorded_(context.recorded()) {}

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    nlohmann::ordered_json metrics;
    if (!recorded_ && (online_ || iteration == 0)) metrics["play"] = Play(iteration);
    const std::vector<int64_t> chosen = Choose(metrics);
    if (!online_ && chosen.empty()) {
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("there is nothing to learn from: of {} finished episodes none is "
                      "chosen. Cure: more --steps or --environments, or a larger "
                      "--keep_share",
                      store().episodes().size()));
    }
    if (iteration < o_.experience.warmup || chosen.empty()) return metrics;
    RandomStream random = context_.Random("cloning", iteration);
    metrics["train"] = LearnFrom(chosen, iteration, random);
    return metrics;
  }

  nlohmann::ordered_json Evaluate(int64_t iteration) override {
    return context_.Evaluate(iteration, trainer_.optimizer_steps());
  }

  std::vector<Updater*> trainers() override { return {&trainer_}; }
  std::string DataDescription() const override { return recorded_ ? recorded_->Description() : ""; }

 private:
  const TransitionStore& store() const { return recorded_ ? *recorded_ : context_.store(); }

  nlohmann::ordered_json Play(int64_t iteration) {
    const RandomStream random = context_.Random("play", iteration);
    const ExperienceOptions& e = o_.experience;
    if (online_) {
      Actor& player = context_.Player(trainer_.optimizer_steps(), /*greedy=*/false);
      return context_.recorder().Play(player, e.steps, random).ToJson();
    }
    ScriptedActor script(e.player == "random" ? 1 : e.noise);
    return context_.recorder().Play(script, e.steps, random).ToJson();
  }

  // The transitions of the episodes to train on.
  std::vector<int64_t> Choose(nlohmann::ordered_json& metrics) const {
    const std::vector<EpisodeRecord>& episodes = store().episodes();
    Selection selection;
    std::vector<double> returns;
    for (const EpisodeRecord& episode : episodes) returns.push_back(episode.total);
    if (!filtered_) {
      for (size_t i = 0; i < episodes.size(); ++i) selection.kept.push_back(i);
    } else if (online_) {
      selection = KeepByQuantile(returns, o_.experience.keep);
    } else {
      selection = KeepTop(returns, o_.experience.keep);
    }
    std::vector<int64_t> chosen;
    for (const size_t i : selection.kept) {
      chosen.insert(chosen.end(), episodes[i].transitions.begin(), episodes[i].transitions.end());
    }
    metrics["chosen"] = {{"episodes", selection.kept.size()}, {"transitions", chosen.size()}};
    if (filtered_) metrics["chosen"]["cutoff"] = selection.cutoff;
    return chosen;
  }

  nlohmann::ordered_json LearnFrom(const std::vector<int64_t>& chosen, int64_t iteration,
                                   RandomStream& random) {
    WeightedStepSums sums;
    for (int update = 0; update < o_.experience.updates; ++update) {
      std::vector<TrainingRow> rows;
      for (int i = 0; i < o_.experience.batch; ++i) {
        const Transition t = store().Read(random.Pick(chosen));
        rows.push_back(ActionRow(t.prompt, t.choice.tokens));
      }
      const int64_t step = iteration * o_.experience.updates + update;
      const int64_t steps = static_cast<int64_t>(o_.iterations) * o_.experience.updates;
      const double rate = LearningRate(o_.schedule, step, steps);
      WeightedStep(trainer_, rows, static_cast<double>(rows.size()), rate, sums);
    }
    return sums.ToJson();
  }

  RlContext& context_;
  const AgentRlOptions& o_;
  const bool filtered_;
  const bool online_;
  Trainer trainer_;
  const TransitionStore* const recorded_;  // null: what it plays itself
};

}  // namespace

std::unique_ptr<Algorithm> MakeCloning(RlContext& context) {
  return std::make_unique<Cloning>(context, /*filtered=*/false);
}

std::unique_ptr<Algorithm> MakeFilteredCloning(RlContext& context) {
  return std::make_unique<Cloning>(context, /*filtered=*/true);
}

}  // namespace agentr
