// ArCHer (Zhou et al. 2024) online and offline, and CHAI.
//
//   archer          plays with the policy, learns the critic from all transitions with fresh
//                   actions of the policy as the targets of V, and the policy by REINFORCE with the
//                   critic's advantage of fresh actions
//   offline_archer  learns from fixed episodes: V by expectile regression on their actions (IQL),
//                   the policy by advantage-weighted regression
//   chai            keeps the policy and plays the best of several samples by the target critic
//                   (Verma et al. 2022), also in evaluations: the reference evaluates greedily,
//                   where all samples are equal
//
// Not repeated from the released code: the end of an action is scored; actions keep the ids they
// were sampled with; one gradient is the mean of its batch, not its sum; actor and critic are
// clipped apart; rewards are floats; old transitions are not drawn twice as often as new ones. As
// there, an episode that is out of steps counts as ended.
#include <algorithm>
#include <optional>

#include "common/json_fields.h"
#include "rl/algorithms/baseline_step.h"
#include "rl/algorithms/utterance_critic.h"
#include "rl/algorithms/weighted_step.h"
#include "rl/losses/policy_loss.h"
#include "rl/losses/returns.h"
#include "rl/rl_context.h"
#include "training/model/divergence.h"

namespace agentr {
namespace {

using at::Tensor;

// Sums of a critic's steps.
struct CriticSums {
  double q = 0, v = 0;
  int64_t steps = 0, tokens = 0;

  void Add(const CriticLoss& loss, int64_t of_tokens) {
    tokens += of_tokens;
    q += (loss.q1 + loss.q2) / 2;
    v += (loss.v1 + loss.v2) / 2;
    ++steps;
  }
  nlohmann::ordered_json ToJson() const {
    const auto n = static_cast<double>(std::max<int64_t>(1, steps));
    return {{"q_loss", q / n}, {"v_loss", v / n}, {"steps", steps}, {"distinct_tokens", tokens}};
  }
};

// Plays the best of `samples` by the target critic.
class RankedPolicy : public Actor {
 public:
  RankedPolicy(WrittenPolicy& policy, UtteranceCritic& critic, int samples)
      : policy_(policy), critic_(critic), samples_(samples) {}

  std::vector<Choice> Act(const World& /*world*/, std::span<const TokenIds> prompts,
                          const RandomStream& random) override {
    std::vector<std::vector<Choice>> all = policy_.Sample(prompts, samples_, random);
    std::vector<TokenIds> states, actions;
    for (int k = 0; k < samples_; ++k) {
      for (size_t i = 0; i < prompts.size(); ++i) {
        states.push_back(prompts[i]);
        actions.push_back(all[i][static_cast<size_t>(k)].tokens);
      }
    }
    const DoubleCritic judged = critic_.Judge(states, actions, /*target=*/true);
    const auto shape = [&](const Tensor& q) {
      return q.view({samples_, static_cast<int64_t>(prompts.size())});
    };
    const Tensor best = BestSamples(shape(judged.q1), shape(judged.q2));
    std::vector<Choice> chosen;
    for (size_t i = 0; i < prompts.size(); ++i) {
      const auto k = static_cast<size_t>(best[static_cast<int64_t>(i)].item<int64_t>());
      chosen.push_back(std::move(all[i][k]));
    }
    return chosen;
  }
  int64_t weights_version() const override { return policy_.weights_version(); }

 private:
  WrittenPolicy& policy_;
  UtteranceCritic& critic_;
  const int samples_;
};

// What the three have in common: the trained policy, the critic and the transitions, which the run
// plays itself or finds recorded. Each random number is drawn in a fixed order, so that a run can
// be repeated: a batch, then the fresh actions in its states, and at the end the gap.
class Archer : public Algorithm {
 public:
  explicit Archer(RlContext& context)
      : context_(context),
        o_(context.options()),
        baseline_(MakeBaseline()),
        trainer_(context.policy().network(), o_.adamw,
                 o_.archer.token_baseline ? baseline_.parameters() : std::vector<Parameter>(),
                 context.group()),
        critic_(o_, context.policy().config(), context.group()),
        recorded_(context.recorded()) {
    if (!context.world().actions().empty()) {
      throw FatalError(ExitCode::kUsage,
                       "ArCHer needs a task whose actions are written freely, such as --task "
                       "twenty_questions or --task echo; for listed actions: --algorithm ppo");
    }
  }

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    nlohmann::ordered_json metrics;
    if (!recorded_ && Plays(iteration)) {
      metrics["play"] = Play(context_.Random("play", iteration));
    }
    usable_ = UsableTransitions();
    if (usable_.empty()) return metrics;
    RandomStream random = context_.Random("archer", iteration);
    metrics.update(Learn(iteration, random));
    return metrics;
  }

  nlohmann::ordered_json Evaluate(int64_t iteration) override {
    return context_.Evaluate(iteration, trainer_.optimizer_steps());
  }

  std::vector<Updater*> trainers() override { return {&trainer_, &critic_.trainer()}; }
  std::vector<Parameter> followers() override { return critic_.target_parameters(); }
  std::string DataDescription() const override { return recorded_ ? recorded_->Description() : ""; }
  nlohmann::ordered_json State() const override { return {{"actor_learns", actor_learns_}}; }
  void Restore(const nlohmann::json& state) override {
    actor_learns_ = JsonField<bool>(state, "actor_learns");
    critic_.TargetLoaded();
  }

 protected:
  virtual bool Plays(int64_t /*iteration*/) const { return true; }
  virtual nlohmann::ordered_json Play(const RandomStream& random) = 0;
  // From the usable transitions, of which there is at least one.
  virtual nlohmann::ordered_json Learn(int64_t iteration, RandomStream& random) = 0;

  // With the current weights.
  WrittenPolicy& LoadedPolicy() { return context_.Written(trainer_.optimizer_steps()); }

  CriticBatch Draw(RandomStream& random) const {
    CriticBatch batch;
    const int count = o_.experience.batch;
    batch.reward = at::zeros({count}, at::kFloat);
    batch.done = at::zeros({count}, at::kFloat);
    for (int i = 0; i < count; ++i) {
      const int64_t n = random.Pick(usable_);
      const Transition t = store().Read(n);
      batch.next_states.push_back(t.done ? t.prompt : store().Read(store().Next(n)).prompt);
      batch.states.push_back(t.prompt);
      batch.actions.push_back(t.choice.tokens);
      batch.reward.data_ptr<float>()[i] = t.reward * static_cast<float>(o_.world.reward_scale);
      batch.done.data_ptr<float>()[i] = t.done ? 1.0f : 0.0f;
    }
    return batch;
  }

  void WeightedActions(std::span<const TokenIds> states, std::span<const TokenIds> actions,
                       const Tensor& weights, int64_t iteration, WeightedStepSums& sums) {
    std::vector<TrainingRow> rows;
    for (size_t i = 0; i < states.size(); ++i) {
      rows.push_back(
          ActionRow(states[i], actions[i], weights[static_cast<int64_t>(i)].item<float>()));
    }
    const double rate = LearningRate(o_.schedule, iteration, o_.iterations);
    WeightedStep(trainer_, rows, static_cast<double>(rows.size()), rate, sums);
  }

  // The mean advantage of the expert's actions over that of any legal ones, in the current states:
  // whether the critic can tell them apart.
  double Gap(RandomStream& random) {
    // A continued run must be in the same states, which the collector brings about.
    const std::vector<TokenIds> states = context_.recorder().prompts();
    World& world = context_.world();
    std::vector<TokenIds> right, any;
    for (size_t i = 0; i < world.size(); ++i) {
      right.push_back(context_.policy().ActionIds(world.Expert(i), /*listed=*/false));
      any.push_back(context_.policy().ActionIds(world.AnyAction(i, random), /*listed=*/false));
    }
    return (critic_.Advantage(states, right) - critic_.Advantage(states, any))
        .mean()
        .item<double>();
  }

  RlContext& context_;
  const AgentRlOptions& o_;
  Mlp baseline_;  // of tokens, used with --token_baseline
  Trainer trainer_;
  UtteranceCritic critic_;
  bool actor_learns_ = false;

 private:
  Mlp MakeBaseline() const {
    const int64_t width = context_.policy().config().hidden_size;
    Mlp head("baseline", {width, o_.critic.width, 1}, Activation::kRelu, o_.seed);
    head.Train();
    return head;
  }
  const TransitionStore& store() const { return recorded_ ? *recorded_ : context_.store(); }

  // Those of the last `capacity` that ended or whose next state is known.
  std::vector<int64_t> UsableTransitions() const {
    std::vector<int64_t> usable;
    const int64_t size = store().size();
    for (int64_t n = std::max<int64_t>(0, size - o_.archer.capacity); n < size; ++n) {
      if (store().done(n) || store().Next(n) >= 0) usable.push_back(n);
    }
    return usable;
  }

  const TransitionStore* const recorded_;  // null: what it plays itself
  std::vector<int64_t> usable_;
};

class OnlineArcher : public Archer {
 public:
  using Archer::Archer;

 protected:
  // Who plays, and whose fresh actions the values of states follow.
  virtual Actor& Player(WrittenPolicy& policy) { return policy; }
  virtual bool TrainsPolicy() const { return true; }

  nlohmann::ordered_json Play(const RandomStream& random) override {
    return context_.recorder().Play(Player(LoadedPolicy()), o_.experience.steps, random).ToJson();
  }

  nlohmann::ordered_json Learn(int64_t iteration, RandomStream& random) override {
    LoadedPolicy();
    CriticSums critic;
    for (int k = 0; k < o_.critic.updates; ++k) {
      CriticBatch batch = Draw(random);
      batch.target_actions = FreshActions(batch.states, random);
      const CriticLoss loss = critic_.Learn(batch, std::nullopt);
      critic.Add(loss, critic_.learned_tokens());
    }
    nlohmann::ordered_json metrics = {{"critic", critic.ToJson()}};
    const double gap = Gap(random);
    metrics["critic"]["gap"] = gap;
    if (iteration >= o_.experience.warmup && gap >= o_.archer.gate) actor_learns_ = true;
    if (TrainsPolicy() && actor_learns_) metrics["train"] = LearnActor(iteration, random);
    return metrics;
  }

 private:
  // Fresh actions of the player.
  std::vector<TokenIds> FreshActions(std::span<const TokenIds> states, RandomStream& random) {
    Actor& actor = Player(context_.Written(std::nullopt));
    std::vector<TokenIds> actions;
    for (Choice& choice : actor.Act(context_.world(), states, RandomStream(random.Next()))) {
      actions.push_back(std::move(choice.tokens));
    }
    return actions;
  }

  nlohmann::ordered_json LearnActor(int64_t iteration, RandomStream& random) {
    WeightedStepSums sums;
    double advantage = 0;
    for (int k = 0; k < o_.experience.updates; ++k) {
      LoadedPolicy();
      const std::vector<TokenIds> states = Draw(random).states;
      const std::vector<TokenIds> actions = FreshActions(states, random);
      const Tensor ahead = critic_.Advantage(states, actions);
      advantage += ahead.mean().item<double>() / o_.experience.updates;
      if (o_.archer.token_baseline) {
        std::vector<TrainingRow> rows;
        for (size_t i = 0; i < states.size(); ++i) rows.push_back(ActionRow(states[i], actions[i]));
        BaselineStep(trainer_, context_.policy().network(), baseline_, rows, ahead,
                     LearningRate(o_.schedule, iteration, o_.iterations), sums);
      } else {
        WeightedActions(states, actions, ahead, iteration, sums);
      }
    }
    nlohmann::ordered_json metrics = sums.ToJson();
    metrics["advantage"] = advantage;
    return metrics;
  }
};

class OfflineArcher : public Archer {
 public:
  using Archer::Archer;

 protected:
  bool Plays(int64_t iteration) const override { return iteration == 0; }
  nlohmann::ordered_json Play(const RandomStream& random) override {
    const ExperienceOptions& e = o_.experience;
    ScriptedActor script(e.player == "random" ? 1 : e.noise);
    return context_.recorder().Play(script, e.steps, random).ToJson();
  }

  nlohmann::ordered_json Learn(int64_t iteration, RandomStream& random) override {
    CriticSums critic;
    WeightedStepSums sums;
    for (int k = 0; k < o_.experience.updates; ++k) {
      CriticBatch batch = Draw(random);
      batch.target_actions = batch.actions;
      const CriticLoss loss = critic_.Learn(batch, o_.critic.expectile);
      critic.Add(loss, critic_.learned_tokens());
      const Tensor weights =
          AdvantageWeights(critic_.Advantage(batch.states, batch.actions),
                           o_.archer.inverse_temperature, o_.archer.weight_limit);
      RequireFinite(weights, "the weights of the actions",
                    "--inverse_temperature or a --weight_limit");
      WeightedActions(batch.states, batch.actions, weights, iteration, sums);
    }
    nlohmann::ordered_json metrics = {{"critic", critic.ToJson()}, {"train", sums.ToJson()}};
    metrics["critic"]["gap"] = Gap(random);
    return metrics;
  }
};

class Chai : public OnlineArcher {
 public:
  using OnlineArcher::OnlineArcher;

  nlohmann::ordered_json Evaluate(int64_t iteration) override {
    return context_.EvaluateActor(iteration, Player(LoadedPolicy()));
  }

 protected:
  Actor& Player(WrittenPolicy& policy) override {
    return ranked_.emplace(policy, critic_, o_.archer.samples);
  }
  bool TrainsPolicy() const override { return false; }

 private:
  std::optional<RankedPolicy> ranked_;
};

}  // namespace

std::unique_ptr<Algorithm> MakeArcher(RlContext& context) {
  return std::make_unique<OnlineArcher>(context);
}
std::unique_ptr<Algorithm> MakeOfflineArcher(RlContext& context) {
  return std::make_unique<OfflineArcher>(context);
}
std::unique_ptr<Algorithm> MakeChai(RlContext& context) { return std::make_unique<Chai>(context); }

}  // namespace agentr
