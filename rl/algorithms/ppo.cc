// PPO on the likelihoods of listed actions (GLAM: Carta et al. 2023).
//
// Differences from the released code, on purpose: the value loss is elementwise; scores are sums of
// log-softmax (listed_policy.h); the network is saved after the last minibatch of an iteration, not
// after its first. As there, an episode that ends at its horizon counts as ended.
//
// The published settings fit a large model that changes slowly. With returns of up to 20 the
// value's gradient is much larger than the policy's, and the gradient's limit then leaves the
// policy little; --normalize_advantages, --value_clip 0 and --reward_scale 1 are for small models
// that learn fast, and --value_activation relu: through two layers of sigmoids hidden states of
// norm 1 change the value so little that for thousands of steps it is a constant.
#include <utility>

#include "rl/algorithms/ppo_rollout.h"
#include "rl/losses/returns.h"
#include "rl/rl_context.h"
#include "training/optim/schedule.h"

namespace agentr {
namespace {

using at::Tensor;

// The transitions of an iteration.
struct RolloutBlock {
  std::vector<std::vector<int32_t>> prompts;
  PpoInput noted;
};

class Ppo : public Algorithm {
 public:
  explicit Ppo(RlContext& context)
      : context_(context),
        o_(context.options()),
        head_(MakeValueHead(context.policy().config().hidden_size, o_.ppo.value_width,
                            o_.ppo.value_activation, o_.seed)),
        trainer_(context.policy().network(), o_.adamw, head_.parameters(), context.group()),
        policy_(context.policy(), &head_, context.world().actions(), context.group()) {
    if (context.world().actions().empty()) {
      throw FatalError(ExitCode::kUsage,
                       "--algorithm ppo needs a task with listed actions, such as --task babyai or "
                       "--task echo_listed");
    }
  }

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    policy_.set_weights_version(trainer_.optimizer_steps());
    const PlayResult play =
        context_.recorder().Play(policy_, o_.experience.steps, context_.Random("play", iteration));
    const RolloutBlock block = ReadBlock();
    nlohmann::ordered_json metrics = {{"play", play.ToJson()}};
    metrics["train"] = Learn(block, iteration);
    metrics["train"]["explained_variance"] =
        ExplainedVariance(block.noted.old_values, block.noted.returns);
    return metrics;
  }

  nlohmann::ordered_json Evaluate(int64_t iteration) override {
    return context_.Evaluate(iteration, trainer_.optimizer_steps());
  }

  std::vector<Updater*> trainers() override { return {&trainer_}; }

 private:
  RolloutBlock ReadBlock() {
    std::vector<Transition> transitions = LastTransitions(
        context_.store(), o_.experience.steps, static_cast<int64_t>(context_.world().size()));
    const Tensor bootstrap = policy_.Score(context_.recorder().prompts(), /*keep=*/false).values;
    RolloutBlock block{{}, WithAdvantages(transitions, bootstrap, o_)};
    for (Transition& t : transitions) block.prompts.push_back(std::move(t.prompt));
    return block;
  }

  nlohmann::ordered_json Learn(const RolloutBlock& block, int64_t iteration) {
    PpoSums sums;
    const double rate = LearningRate(o_.schedule, iteration, o_.iterations);
    std::vector<int64_t> order(block.prompts.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    ForEachMinibatch(std::move(order), static_cast<size_t>(o_.experience.batch), o_.ppo.epochs,
                     context_.Random("ppo", iteration), [&](std::span<const int64_t> chosen) {
                       LearnBatch(block, chosen, rate, sums);
                     });
    return sums.ToJson();
  }

  void LearnBatch(const RolloutBlock& block, std::span<const int64_t> chosen, double rate,
                  PpoSums& sums) {
    std::vector<std::vector<int32_t>> prompts;
    for (const int64_t n : chosen) prompts.push_back(block.prompts[static_cast<size_t>(n)]);
    const int64_t tokens_before = policy_.tokens();
    const ListedPolicy::Scores now = policy_.Score(prompts, /*keep=*/true);
    sums.tokens += policy_.tokens() - tokens_before;
    const Tensor index = at::tensor(at::ArrayRef<int64_t>(chosen.data(), chosen.size()), at::kLong);
    const PpoLoss loss =
        ClippedPpoLoss(RowsOf(block.noted, index, now.scores, now.values, o_.ppo), o_.ppo.loss);
    policy_.Backward(loss.dscores, loss.dvalues);
    sums.Add(loss, trainer_.UpdateFor(loss.total, rate));
  }

  RlContext& context_;
  const AgentRlOptions& o_;
  Mlp head_;
  Trainer trainer_;
  ListedPolicy policy_;
};

}  // namespace

std::unique_ptr<Algorithm> MakePpo(RlContext& context) { return std::make_unique<Ppo>(context); }

}  // namespace agentr
