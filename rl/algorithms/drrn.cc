// Q-learning on listed actions as a baseline: DRRN (He et al. 2016) with the settings of GLAM's
// comparison (Carta et al. 2023).
//
// Q(state, action) is a head on the hidden states of the prompt's and of the action's last token;
// it acts by softmax over Q and learns from uniformly drawn old transitions by the temporal
// difference with smooth L1, without a target network. DRRN reads with two recurrent networks; here
// the policy's causal network reads, so that the comparison is of the learning, not of the reader.
// The released code forgets the first observation of an episode; here it is in the prompt.
#include <algorithm>

#include "rl/losses/critic_loss.h"
#include "rl/losses/shared_pass.h"
#include "rl/rl_context.h"
#include "training/model/divergence.h"
#include "training/optim/schedule.h"
#include "training/trainer.h"

namespace agentr {
namespace {

using at::Tensor;
using Ids = std::vector<int32_t>;

// Q of states and actions, and the player that acts by it.
class QPolicy : public Actor {
 public:
  QPolicy(PolicyModel& policy, int width, uint64_t seed, std::span<const std::string_view> actions,
          ProcessGroup* group)
      : policy_(policy),
        group_(group),
        head_("q", {2 * policy.config().hidden_size, width, 1}, Activation::kRelu, seed) {
    head_.Train();
    for (const std::string_view action : actions) {
      actions_.push_back(policy.ActionIds(action, /*listed=*/true));
    }
  }

  const Mlp& head() const { return head_; }

  // [prompts, actions].
  Tensor Values(std::span<const Ids> prompts) {
    std::vector<TrainingRow> rows;
    std::vector<RowToken> tokens;
    for (const Ids& prompt : prompts) {
      for (const Ids& action : actions_) AddPair(prompt, action, rows, tokens);
    }
    const SharedPass pass(group_, policy_.network(), rows, tokens, /*keep=*/false);
    const Tensor q = Read(pass, /*keep=*/false).view({static_cast<int64_t>(prompts.size()), -1});
    RequireFinite(q, "Q");
    return q;
  }

  // Adds the gradients of the loss of Q(prompts[i], chosen[i]).
  TdLoss Learn(std::span<const Ids> prompts, std::span<const int32_t> chosen, const Tensor& reward,
               const Tensor& done, const Tensor& next_q, double gamma) {
    std::vector<TrainingRow> rows;
    std::vector<RowToken> tokens;
    for (size_t i = 0; i < prompts.size(); ++i) {
      AddPair(prompts[i], actions_[static_cast<size_t>(chosen[i])], rows, tokens);
    }
    SharedPass pass(group_, policy_.network(), rows, tokens, /*keep=*/true);
    const TdLoss loss = HuberTdLoss(Read(pass, /*keep=*/true), reward, done, next_q, gamma);
    const Tensor by_pairs = head_.Backward(loss.gradient.unsqueeze(1));
    const auto count = static_cast<int64_t>(rows.size());
    pass.Backward(at::zeros({count}, at::kFloat), by_pairs.view({2 * count, -1}));
    return loss;
  }

  std::vector<Choice> Act(const World& world, std::span<const Ids> prompts,
                          const RandomStream& random) override {
    const Tensor q = Values(prompts);
    const Tensor p = at::softmax(q, 1).cumsum(1).contiguous();
    const int64_t count = p.size(1);
    std::vector<Choice> choices;
    for (size_t i = 0; i < prompts.size(); ++i) {
      const float* row = p.data_ptr<float>() + static_cast<int64_t>(i) * count;
      const float share = static_cast<float>(random.Split(i).Uniform());
      const int64_t at =
          greedy_ ? q[static_cast<int64_t>(i)].argmax().item<int64_t>()
                  : std::min<int64_t>(count - 1, std::lower_bound(row, row + count, share) - row);
      const auto index = static_cast<size_t>(at);
      choices.push_back(
          {std::string(world.actions()[index]), actions_[index], {}, static_cast<int32_t>(at)});
    }
    return choices;
  }
  int64_t weights_version() const override { return version_; }
  void set_weights_version(int64_t version) { version_ = version; }
  // Takes the action of the largest Q instead.
  void set_greedy(bool greedy) { greedy_ = greedy; }

 private:
  Tensor Read(const SharedPass& pass, bool keep) {
    const Tensor states = pass.states();
    return head_.Forward(states.view({states.size(0) / 2, -1}), keep).squeeze(1);
  }

  PolicyModel& policy_;
  ProcessGroup* const group_;
  Mlp head_;
  std::vector<Ids> actions_;
  int64_t version_ = 0;
  bool greedy_ = false;
};

class Drrn : public Algorithm {
 public:
  explicit Drrn(RlContext& context)
      : context_(context),
        o_(context.options()),
        policy_(context.policy(), o_.critic.width, o_.seed, context.world().actions(),
                context.group()),
        trainer_(context.policy().network(), o_.adamw, policy_.head().parameters(),
                 context.group()) {
    if (context.world().actions().empty()) {
      throw FatalError(ExitCode::kUsage,
                       "--algorithm drrn needs a task with listed actions, such as --task babyai");
    }
  }

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    policy_.set_weights_version(trainer_.optimizer_steps());
    const PlayResult play =
        context_.recorder().Play(policy_, o_.experience.steps, context_.Random("play", iteration));
    nlohmann::ordered_json metrics = {{"play", play.ToJson()}};
    RandomStream random = context_.Random("drrn", iteration);
    const double rate = LearningRate(o_.schedule, iteration, o_.iterations);
    double loss = 0, norm = 0;
    for (int k = 0; k < o_.experience.updates; ++k) {
      const StepReport report = trainer_.UpdateFor(LearnBatch(random).loss, rate);
      loss += report.sums.Total().loss / o_.experience.updates;
      norm += report.gradient_norm / o_.experience.updates;
    }
    metrics["train"] = {{"loss", loss}, {"gradient_norm", norm}};
    return metrics;
  }

  nlohmann::ordered_json Evaluate(int64_t iteration) override {
    policy_.set_greedy(o_.eval_greedy);
    auto result = context_.EvaluateActor(iteration, policy_);
    policy_.set_greedy(false);
    return result;
  }
  std::vector<Updater*> trainers() override { return {&trainer_}; }

 private:
  // Any transition but the last of each slot, whose next state is only a prompt so far.
  TdLoss LearnBatch(RandomStream& random) {
    const TransitionStore& store = context_.store();
    const int64_t known = store.size() - static_cast<int64_t>(context_.world().size());
    const int64_t first = std::max<int64_t>(0, known - o_.archer.capacity);
    const int count = o_.experience.batch;
    std::vector<Ids> prompts, next;
    std::vector<int32_t> chosen;
    Tensor reward = at::zeros({count}, at::kFloat), done = at::zeros({count}, at::kFloat);
    for (int i = 0; i < count; ++i) {
      const int64_t n =
          first + static_cast<int64_t>(random.Below(static_cast<uint64_t>(known - first)));
      Transition t = store.Read(n);
      reward.data_ptr<float>()[i] = t.reward * static_cast<float>(o_.world.reward_scale);
      done.data_ptr<float>()[i] = t.done ? 1.0f : 0.0f;
      next.push_back(t.done ? t.prompt : store.Read(store.Next(n)).prompt);
      chosen.push_back(t.choice.listed);
      prompts.push_back(std::move(t.prompt));
    }
    const Tensor next_q = policy_.Values(next);
    return policy_.Learn(prompts, chosen, reward, done, next_q, o_.experience.gamma);
  }

  RlContext& context_;
  const AgentRlOptions& o_;
  QPolicy policy_;
  Trainer trainer_;
};

}  // namespace

std::unique_ptr<Algorithm> MakeDrrn(RlContext& context) {
  if (context.options().experience.steps < 2) {
    throw FatalError(ExitCode::kUsage, "--algorithm drrn needs --steps of at least 2");
  }
  return std::make_unique<Drrn>(context);
}

}  // namespace agentr
