// The losses of learning from reward: against tests/golden/rl/losses.json (PyTorch, float64), and
// their gradients against finite differences.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "rl/losses/critic_loss.h"
#include "rl/losses/policy_loss.h"
#include "rl/networks/mlp.h"
#include "tests/training/finite_difference.h"
#include "tests/training/golden_losses.h"
#include "training/loss/linear_cross_entropy.h"
#include "training/optim/adamw.h"
#include "training/optim/schedule.h"

namespace agentr {
namespace {

using at::Tensor;
using nlohmann::json;
using namespace golden_losses;

void ExpectDerivative(const Tensor& x, const Tensor& gradient, const std::function<double()>& f) {
  ExpectGradient<double>(x, gradient, f, 1e-6, 1e-7);
}

// Three actions of up to five tokens.
struct Actions {
  Tensor logits = Fill({3, 5, 11}, 0.37, 0.1, 2);
  Tensor tokens = Longs({1, 4, 9, 0, 0, 3, 3, 7, 10, 2, 5, 0, 0, 0, 0}).view({3, 5});
  Tensor mask = Vector(GoldenLosses()["sequence_logprob"]["mask"]).view({3, 5});
  Tensor advantage = Doubles({0.5, -1.25, 2});

  Tensor Each() const {
    return at::log_softmax(logits, -1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1) * mask;
  }
  // The gradient by logits from that by token log-probabilities [3, 5].
  Tensor ByLogits(const Tensor& by_token) const {
    const Tensor p = at::softmax(logits, -1);
    const Tensor chosen = at::zeros_like(p).scatter_(-1, tokens.unsqueeze(-1), 1);
    return (by_token * mask).unsqueeze(-1) * (chosen - p);
  }
};

double Norm(const Tensor& t) { return t.norm().item<double>(); }

// The three actions as a network's pass has them: one row of logits for each token.
struct ActionTargets {
  Tensor logits = at::empty({9, 11}, at::kFloat);
  std::vector<Target> targets;

  // Every token of an action has the action's weight.
  explicit ActionTargets(const Tensor& weights) {
    const Actions a;
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t t = 0; t < 5 && a.mask[row][t].item<double>() > 0; ++t) {
        const auto index = static_cast<int32_t>(targets.size());
        logits[index].copy_(a.logits[row][t]);
        targets.push_back({index, a.tokens[row][t].item<int32_t>(), weights[row].item<float>()});
      }
    }
  }
};

// The loss of weighted targets, which cloning, REINFORCE and ArCHer's actors train with, is
// -mean_b w_b ln p_b over actions b; the golden values are those of the references' formulas.
TEST(PolicyLoss, WeightedTargetsGiveTheReferencesLosses) {
  const Tensor one = at::ones({3}, at::kDouble), advantage = Actions().advantage;
  const Tensor logprob = Vector(GoldenLosses()["sequence_logprob"]["sum"]);
  const Tensor ahead = logprob - Doubles({-9, -15, -2.5}) + 1;
  const struct {
    const char* golden;
    Tensor weights;
    double rows;
  } cases[] = {{"bc_sum", one, 3},
               {"sft_token_mean", one, 9},
               {"actor_reinforce", advantage, 3},
               {"actor_awr", AdvantageWeights(advantage, 1, 0), 3},
               {"actor_kl", 0.7 * advantage - 0.3 * ahead, 3}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.golden);
    const json& golden = GoldenLosses()[c.golden];
    const ActionTargets actions(c.weights);
    const Tensor gradient = at::empty_like(actions.logits);
    const LossSums sums =
        LinearCrossEntropy(actions.logits, at::eye(11), actions.targets, 1 / c.rows, gradient, {});
    EXPECT_NEAR(sums.Total().loss / c.rows, golden["loss"].get<double>(), 1e-4);
    EXPECT_NEAR(Norm(gradient), golden["grad_norm"].get<double>(), 1e-5);
    if (golden.contains("grad_000_to_003")) {
      ExpectNear(gradient[0].narrow(0, 0, 4), golden["grad_000_to_003"], 1e-6);
    }
  }
}

TEST(PolicyLoss, LogProbabilitiesOfActions) {
  const ActionTargets actions(at::ones({3}, at::kDouble));
  const std::vector<float> logprob = TargetLogProbs(actions.logits, at::eye(11), actions.targets);
  const std::vector<double> golden = Flat(GoldenLosses()["sequence_logprob"]["token_logprob"]);
  const int at[] = {0, 1, 2, 5, 6, 7, 8, 9, 10};  // those under the mask
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(logprob[i], golden[at[i]], 1e-5) << i;
}

TEST(PolicyLoss, AdvantageWeights) {
  ExpectNear(AdvantageWeights(Actions().advantage, 1, 0), GoldenLosses()["actor_awr"]["weights"]);
  ExpectNear(AdvantageWeights(Doubles({-1, 0, 90}), 3, 100), json{std::exp(-3), 1, 100});
}

TEST(PolicyLoss, ReinforceWithBaseline) {
  const json& golden = GoldenLosses()["actor_baseline"];
  const Actions a;
  const Tensor values = Fill({3, 5}, 0.9, 0.3);
  const BaselineLoss loss = ReinforceBaselineLoss(a.Each(), values, a.advantage, a.mask);
  ExpectNear(loss.value, golden["value_loss"]);
  ExpectNear(loss.policy, golden["pg_loss"]);
  ExpectNear(loss.policy + loss.value, golden["total"]);
  ExpectNear(loss.dvalues, golden["grad_values"]);
  ExpectNear(Norm(a.ByLogits(loss.dlogprob)), golden["grad_logits_norm"]);
  ExpectDerivative(a.logits, a.ByLogits(loss.dlogprob), [&] {
    return ReinforceBaselineLoss(a.Each(), values, a.advantage, a.mask).policy;
  });
  ExpectDerivative(values, loss.dvalues, [&] {
    return ReinforceBaselineLoss(a.Each(), values, a.advantage, a.mask).value;
  });
}

PpoInput PpoGolden() {
  const json& g = GoldenLosses()["ppo_loss"];
  PpoInput in;
  in.scores = Fill({4, 6}, 0.53, 0.9, 1.5);
  in.action = Longs({0, 3, 5, 2});
  in.old_logprob = Vector(g["old_logprob"]);
  in.advantage = Vector(g["advantage"]);
  in.returns = Vector(g["return"]);
  in.old_values = Vector(g["value_old"]);
  in.values = Vector(g["value_new"]);
  return in;
}

TEST(PolicyLoss, Ppo) {
  const json& g = GoldenLosses()["ppo_loss"];
  const PpoInput in = PpoGolden();
  const PpoLoss loss = ClippedPpoLoss(in, {});
  ExpectNear(loss.logprob, g["logprob"]);
  ExpectNear(loss.policy, g["policy_loss"]);
  ExpectNear(loss.entropy, g["entropy"]);
  ExpectNear(loss.value, g["value_loss"]);
  ExpectNear(loss.total, g["total"]);
  ExpectNear(loss.dscores, g["grad_scores"]);
  ExpectNear(loss.dvalues, g["grad_values"]);
  EXPECT_EQ(loss.clipped, 0.5);
  const auto total = [&] { return ClippedPpoLoss(in, {}).total; };
  ExpectDerivative(in.scores, loss.dscores, total);
  ExpectDerivative(in.values, loss.dvalues, total);
}

// Values that moved too far towards their returns have no gradient; without a limit all have one.
TEST(PolicyLoss, PpoLimitsTheChangeOfValues) {
  PpoInput in = PpoGolden();
  in.old_values = Doubles({0, 0, 0, 0});
  in.values = Doubles({0.1, 0.5, 0.5, -0.5});
  in.returns = Doubles({2, 2, -2, 2});
  const PpoLoss limited = ClippedPpoLoss(in, {});
  ExpectNear(limited.value, json((1.9 * 1.9 + 1.8 * 1.8 + 2 * 2.5 * 2.5) / 4));
  ExpectNear(limited.dvalues, json{-1.9 / 4, 0, 2.5 / 4, -2.5 / 4});
  const PpoLoss free = ClippedPpoLoss(in, {.value_clip = 0});
  ExpectNear(free.value, json((1.9 * 1.9 + 1.5 * 1.5 + 2 * 2.5 * 2.5) / 4));
  ExpectNear(free.dvalues, json{-1.9 / 4, -1.5 / 4, 2.5 / 4, -2.5 / 4});
}

// V_old + (V - V_old) is not always V in floating point, and may be a little farther from the
// return than V; the gradient of a value that changed little must not be lost by that.
TEST(PolicyLoss, PpoLosesNoGradientToRounding) {
  PpoInput in;
  constexpr int64_t kRows = 512;
  in.scores = at::zeros({kRows, 2});
  in.action = at::zeros({kRows}, at::kLong);
  in.advantage = in.old_logprob = at::zeros({kRows});
  in.values = Fill({kRows}, 0.7, 0.1, 0.09).to(at::kFloat);
  in.old_values = Fill({kRows}, 1.3, 0.4, 0.09).to(at::kFloat);
  in.returns = Fill({kRows}, 0.3, 0.9, 0.01).to(at::kFloat);
  const PpoLoss loss = ClippedPpoLoss(in, {});
  EXPECT_TRUE(at::equal(loss.dvalues != 0, in.values != in.returns));
}

TEST(PolicyLoss, PpoTellsHowFarThePolicyIsFromTheOldOne) {
  PpoInput in = PpoGolden();
  const Tensor logp = at::log_softmax(in.scores, 1).gather(1, in.action.unsqueeze(1)).squeeze(1);
  in.old_logprob = logp.clone();
  EXPECT_EQ(ClippedPpoLoss(in, {}).kl, 0);
  in.old_logprob = logp - std::log(1.5);
  ExpectNear(ClippedPpoLoss(in, {}).kl, json(0.5 - std::log(1.5)));
}

struct Critics {
  DoubleCritic online, target;
  Critics() {
    const auto fill = [](double a, double b) { return Fill({6}, a, b, 3); };
    online = {fill(0.7, 0), fill(0.7, 0.5), fill(0.7, 1), fill(0.7, 1.5)};
    target = {fill(0.45, 0.2), fill(0.45, 0.8), fill(0.45, 1.4), fill(0.45, 2)};
  }
};

void ExpectCritic(const json& golden, std::optional<double> expectile) {
  const Critics c;
  CriticTargets t{Vector(golden["reward"]),
                  Vector(golden["done"]),
                  c.target.v1,
                  c.target.v2,
                  c.target.q1,
                  c.target.q2,
                  golden["gamma"],
                  expectile};
  const CriticLoss loss = DoubleCriticLoss(c.online, t);
  ExpectNear(loss.q1, golden["q1_loss"]);
  ExpectNear(loss.q2, golden["q2_loss"]);
  ExpectNear(loss.v1, golden["v1_loss"]);
  ExpectNear(loss.v2, golden["v2_loss"]);
  ExpectNear(loss.total(), golden["total"]);
  const DoubleCritic& g = loss.gradient;
  ExpectNear(at::stack({g.q1, g.q2, g.v1, g.v2}), golden["grads_q1_q2_v1_v2"]);
  const auto total = [&] { return DoubleCriticLoss(c.online, t).total(); };
  ExpectDerivative(c.online.q1, g.q1, total);
  ExpectDerivative(c.online.q2, g.q2, total);
  ExpectDerivative(c.online.v1, g.v1, total);
  ExpectDerivative(c.online.v2, g.v2, total);
}

TEST(CriticLoss, Archer) { ExpectCritic(GoldenLosses()["critic_archer"], std::nullopt); }
TEST(CriticLoss, Iql) { ExpectCritic(GoldenLosses()["critic_iql"], 0.9); }

TEST(CriticLoss, UtteranceAdvantage) {
  ExpectNear(UtteranceAdvantage(Critics().online), GoldenLosses()["advantage_min"]["value"], 1e-12);
}

TEST(CriticLoss, Drrn) {
  const json& g = GoldenLosses()["drrn_huber"];
  const Tensor q = Vector(g["q"]), next = Vector(g["next_q"]).view({4, 2});
  const auto loss = [&] {
    return HuberTdLoss(q, Vector(g["reward"]), Vector(g["done"]), next, g["gamma"]);
  };
  ExpectNear(loss().target, g["target"]);
  ExpectNear(loss().loss, g["loss"]);
  ExpectNear(loss().gradient, g["grad"]);
  ExpectDerivative(q, loss().gradient, [&] { return loss().loss; });
}

// S3, the paper's formula, is the softmax over sums of token log-probabilities.
TEST(PolicyLoss, ScoresOfListedActions) {
  const json& g = GoldenLosses()["glam_scoring"];
  const Tensor logits = Fill({18, 9}, 0.41, 0.7, 3).to(at::kFloat);
  const std::vector<double> tokens = Flat(g["tokens (0=pad)"]);
  std::vector<Target> targets;
  std::vector<Tensor> rows;
  for (int32_t i = 0; i < 18; ++i) {
    if (tokens[i] == 0) continue;
    targets.push_back({static_cast<int32_t>(rows.size()), static_cast<int32_t>(tokens[i]), 1});
    rows.push_back(logits[i]);
  }
  const std::vector<float> logprob = TargetLogProbs(at::stack(rows), at::eye(9), targets);
  Tensor scores = at::zeros({6}, at::kDouble);
  for (int32_t i = 0, next = 0; i < 18; ++i) {
    if (tokens[i] != 0) scores[i / 3] += logprob[next++];
  }
  ExpectNear(scores, g["S3_scores"], 1e-5);
  ExpectNear(at::softmax(scores, 0), g["S3_policy"], 1e-5);
}

// A head whose parameters are those of the goldens.
Mlp GoldenHead(const std::vector<int64_t>& widths, Activation activation, double a) {
  Mlp head("head", widths, activation, 1, at::kDouble);
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto layer = static_cast<double>(i);
    const double scale = 1 / std::sqrt(static_cast<double>(widths[i]));
    head.parameters()[2 * i].value.copy_(Fill({widths[i + 1], widths[i]}, a, 0.1 * layer, scale));
    head.parameters()[2 * i + 1].value.copy_(Fill({widths[i + 1]}, a, 0.5 + 0.1 * layer, 0.1));
  }
  head.Train();
  return head;
}

TEST(Mlp, HeadsOfTheReferences) {
  Mlp q = GoldenHead({16, 8, 8, 1}, Activation::kRelu, 0.17);
  const Tensor state = Fill({2, 8}, 0.21, 0), action = Fill({2, 8}, 0.21, 3);
  ExpectNear(q.Forward(at::cat({state, action}, 1), false),
             GoldenLosses()["archer_q_head_small"]["q"]);
  Mlp v = GoldenHead({8, 16, 16, 1}, Activation::kSigmoid, 0.29);
  ExpectNear(v.Forward(state, false), GoldenLosses()["glam_value_head_small"]["v"]);
}

TEST(Mlp, Gradients) {
  for (const Activation activation : {Activation::kRelu, Activation::kSigmoid}) {
    Mlp head = GoldenHead({8, 5, 4, 2}, activation, 0.29);
    const Tensor x = Fill({3, 8}, 0.21, 0), dy = Fill({3, 2}, 0.9, 1);
    head.Forward(x, true);
    const Tensor dx = head.Backward(dy);
    const auto f = [&] { return (head.Forward(x, false) * dy).sum().item<double>(); };
    ExpectDerivative(x, dx, f);
    for (const Parameter& p : head.parameters()) ExpectDerivative(p.value, p.gradient, f);
  }
}

// Four steps of clipping and Adam; the optimiser computes in float32.
void ExpectAdam(const char* key, const AdamWOptions& options) {
  std::vector<Parameter> parameters = {{"a", Fill({3}, 1.3, 0.1).to(at::kFloat), {}},
                                       {"b", Fill({2, 2}, 0.6, 0.4).to(at::kFloat), {}}};
  for (Parameter& p : parameters) p.gradient = at::zeros_like(p.value);
  AdamW adam(parameters, options);
  for (int k = 0; k < 4; ++k) {
    const json& g = GoldenLosses()["adam_step_clip"][key][static_cast<size_t>(k)];
    const double b = k < 3 ? k : 9, scale = k < 3 ? 4 : 1e-3;
    parameters[0].gradient.copy_(Fill({3}, 0.9, b, scale));
    parameters[1].gradient.copy_(Fill({2, 2}, 1.7, b + 0.5, scale));
    const double norm = adam.GradientNorm();
    ExpectNear(norm, g["norm_before_clip"], 1e-6);
    adam.Step(1e-2, norm);
    ExpectNear(parameters[0].value, g["params"][0], 1e-6);
    ExpectNear(parameters[1].value, g["params"][1], 1e-6);
  }
}

TEST(RewardOptimiser, ClippedAdamSteps) {
  ExpectAdam("adam_lr1e-2_eps1e-8", {});
  ExpectAdam("adam_lr1e-2_eps1e-5", {.epsilon = 1e-5});
  ExpectAdam("adamw_lr1e-2_wd0.1", {.weight_decay = 0.1});
}

TEST(RewardOptimiser, CosineWithWarmup) {
  const json& g = GoldenLosses()["cosine_warmup"];
  const ScheduleOptions options = {.learning_rate = 1, .warmup = 3.0 / 20};
  std::vector<double> factors;
  for (int step = 0; step < 20; ++step) factors.push_back(LearningRate(options, step, 20));
  const std::vector<double> all = Flat(g["factor"]);
  ExpectNear(Doubles(factors), std::vector<double>(all.begin(), all.begin() + 20), 1e-12);
}

}  // namespace
}  // namespace agentr
