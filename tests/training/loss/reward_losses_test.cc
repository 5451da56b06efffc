// The losses of learning from reward: against tests/golden/rl/losses.json (PyTorch, float64), and
// their gradients against finite differences.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "training/loss/critic_loss.h"
#include "training/loss/policy_loss.h"
#include "training/loss/returns.h"
#include "training/model/mlp.h"
#include "training/optim/adamw.h"
#include "training/optim/schedule.h"

namespace agentr {
namespace {

using at::Tensor;
using nlohmann::json;

const json& Golden() {
  static const json golden =
      json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/rl/losses.json"));
  return golden;
}

// The inputs of the goldens: scale * sin(a k + b) at the flat index k.
Tensor Fill(at::IntArrayRef shape, double a, double b, double scale = 1) {
  Tensor t = at::empty(shape, at::kDouble);
  for (int64_t k = 0; k < t.numel(); ++k) {
    t.data_ptr<double>()[k] = scale * std::sin(a * static_cast<double>(k) + b);
  }
  return t;
}

Tensor Doubles(const std::vector<double>& values) {
  return at::tensor(at::ArrayRef<double>(values), at::kDouble);
}
Tensor Longs(const std::vector<int64_t>& values) {
  return at::tensor(at::ArrayRef<int64_t>(values), at::kLong);
}
std::vector<double> Flat(const json& value) {
  if (value.is_number()) return {value.get<double>()};
  std::vector<double> all;
  for (const json& part : value) {
    const std::vector<double> inner = Flat(part);
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}
Tensor Vector(const json& value) { return Doubles(Flat(value)); }

void ExpectNear(const Tensor& value, const json& golden, double tolerance = 1e-10) {
  const std::vector<double> expected = Flat(golden);
  const Tensor flat = value.reshape({-1}).to(at::kDouble).contiguous();
  ASSERT_EQ(flat.numel(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat.data_ptr<double>()[i], expected[i],
                tolerance * std::max(1.0, std::abs(expected[i])))
        << "at " << i;
  }
}
void ExpectNear(double value, const json& golden, double tolerance = 1e-10) {
  ExpectNear(Doubles({value}), golden, tolerance);
}

// The derivatives of f, which reads x (float64), by central differences are those in `gradient`.
void ExpectDerivative(const Tensor& x, const Tensor& gradient, const std::function<double()>& f) {
  ASSERT_EQ(x.sizes(), gradient.sizes());
  ASSERT_GT(gradient.abs().max().item<double>(), 1e-6);
  constexpr double kStep = 1e-6;
  const Tensor flat = gradient.contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) {
    double& value = x.data_ptr<double>()[i];
    const double before = value;
    value = before + kStep;
    const double above = f();
    value = before - kStep;
    const double below = f();
    value = before;
    EXPECT_NEAR(flat.data_ptr<double>()[i], (above - below) / (2 * kStep), 1e-7) << "at " << i;
  }
}

// Three actions of up to five tokens.
struct Actions {
  Tensor logits = Fill({3, 5, 11}, 0.37, 0.1, 2);
  Tensor tokens = Longs({1, 4, 9, 0, 0, 3, 3, 7, 10, 2, 5, 0, 0, 0, 0}).view({3, 5});
  Tensor mask = Vector(Golden()["sequence_logprob"]["mask"]).view({3, 5});
  Tensor advantage = Doubles({0.5, -1.25, 2});

  Tensor Each() const { return TokenLogProbs(logits, tokens, mask); }
  Tensor Sums() const { return Each().sum(1); }
  // The gradient by logits from that by token log-probabilities [3, 5].
  Tensor ByLogits(const Tensor& by_token) const {
    const Tensor p = at::softmax(logits, -1);
    const Tensor chosen = at::zeros_like(p).scatter_(-1, tokens.unsqueeze(-1), 1);
    return (by_token * mask).unsqueeze(-1) * (chosen - p);
  }
  Tensor BySums(const Tensor& by_sum) const { return ByLogits(by_sum.unsqueeze(1).expand({3, 5})); }
};

double Norm(const Tensor& t) { return t.norm().item<double>(); }

TEST(PolicyLoss, LogProbabilitiesOfActions) {
  const Actions a;
  const json& golden = Golden()["sequence_logprob"];
  ExpectNear(a.Each(), golden["token_logprob"], 1e-12);
  ExpectNear(a.Sums(), golden["sum"], 1e-12);
  ExpectNear(a.Sums() / a.mask.sum(1), golden["mean_per_token"], 1e-12);
  const Tensor narrow = TokenLogProbs(a.logits.to(at::kFloat), a.tokens, a.mask.to(at::kFloat));
  ExpectNear(narrow.sum(1), golden["sum_float32"], 1e-5);
}

TEST(PolicyLoss, ImprobableTokensGiveNoNan) {
  const Tensor logits = Doubles({0, 2000}).view({1, 1, 2});
  const Tensor token = Longs({0}).view({1, 1}), ones = at::ones({1, 1}, at::kDouble);
  EXPECT_EQ(TokenLogProbs(logits, token, ones).item<double>(), -2000);
  EXPECT_EQ(TokenLogProbs(logits, token, at::zeros_like(ones)).item<double>(), 0);
}

// The loss and the norm of its gradient by the logits, and that gradient by differences.
void ExpectLoss(const std::function<LossGradient(const Actions&)>& loss, const json& golden) {
  const Actions a;
  const LossGradient result = loss(a);
  ExpectNear(result.loss, golden["loss"]);
  const Tensor gradient = a.BySums(result.gradient);
  ExpectNear(Norm(gradient), golden["grad_norm"]);
  if (golden.contains("grad_000_to_003")) {
    ExpectNear(gradient[0][0].narrow(0, 0, 4), golden["grad_000_to_003"]);
  }
}
void ExpectSlope(const std::function<LossGradient(const Actions&)>& loss) {
  const Actions a;
  ExpectDerivative(a.logits, a.BySums(loss(a).gradient), [&] { return loss(a).loss; });
}

TEST(PolicyLoss, Cloning) {
  const auto loss = [](const Actions& a) { return CloningLoss(a.Sums()); };
  ExpectLoss(loss, Golden()["bc_sum"]);
  ExpectSlope(loss);
  // The token mean of supervised fine-tuning is the same sum by another divisor.
  const Actions a;
  const double tokens = a.mask.sum().item<double>();
  ExpectNear(3 * loss(a).loss / tokens, Golden()["sft_token_mean"]["loss"]);
  ExpectNear(3 * Norm(a.BySums(loss(a).gradient)) / tokens,
             Golden()["sft_token_mean"]["grad_norm"]);
}

TEST(PolicyLoss, Reinforce) {
  const auto loss = [](const Actions& a) { return ReinforceLoss(a.Sums(), a.advantage); };
  ExpectLoss(loss, Golden()["actor_reinforce"]);
  ExpectSlope(loss);
}

TEST(PolicyLoss, AdvantageWeightedRegression) {
  const auto loss = [](const Actions& a) {
    return AdvantageWeightedLoss(a.Sums(), AdvantageWeights(a.advantage, 1, 0));
  };
  ExpectNear(AdvantageWeights(Actions().advantage, 1, 0), Golden()["actor_awr"]["weights"]);
  ExpectLoss(loss, Golden()["actor_awr"]);
  ExpectSlope(loss);
  ExpectNear(AdvantageWeights(Doubles({-1, 0, 90}), 3, 100), json{std::exp(-3), 1, 100});
}

TEST(PolicyLoss, ReinforceWithKl) {
  const Tensor reference = Doubles({-9, -15, -2.5});
  const auto loss = [&](const Actions& a) {
    return ReinforceKlLoss(a.Sums(), a.advantage, reference, 0.3);
  };
  ExpectLoss(loss, Golden()["actor_kl"]);
  // The bracket is a constant in the gradient, so the loss with the bracket of now is the one to
  // differentiate.
  const Actions a;
  const Tensor factor = loss(a).gradient * 3;
  ExpectDerivative(a.logits, a.BySums(factor / 3),
                   [&] { return (factor * a.Sums()).mean().item<double>(); });
}

TEST(PolicyLoss, ReinforceWithBaseline) {
  const json& golden = Golden()["actor_baseline"];
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
  const json& g = Golden()["ppo_loss"];
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
  const json& g = Golden()["ppo_loss"];
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

// The released code subtracts [B, 1] from [B]. Here that is a difference of documentation only: its
// value loss is another one.
TEST(PolicyLoss, PpoHasNotTheReferencesBroadcastValueLoss) {
  const json& g = Golden()["ppo_loss"];
  const PpoInput in = PpoGolden();
  const Tensor column = in.values.unsqueeze(1);
  const Tensor limited = in.old_values + (column - in.old_values).clamp(-0.2, 0.2);
  const double broadcast =
      at::maximum((column - in.returns).square(), (limited - in.returns).square())
          .mean()
          .item<double>();
  ExpectNear(broadcast, g["reference_bug_value_loss_BxB"]);
  EXPECT_LT(ClippedPpoLoss(in, {}).value, 0.1 * broadcast);
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
  ExpectNear(loss.target1, golden["y1"]);
  ExpectNear(loss.target2, golden["y2"]);
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

TEST(CriticLoss, Archer) { ExpectCritic(Golden()["critic_archer"], std::nullopt); }
TEST(CriticLoss, Iql) { ExpectCritic(Golden()["critic_iql"], 0.9); }

TEST(CriticLoss, UtteranceAdvantage) {
  ExpectNear(UtteranceAdvantage(Critics().online), Golden()["advantage_min"]["value"], 1e-12);
}

TEST(CriticLoss, Drrn) {
  const json& g = Golden()["drrn_huber"];
  const Tensor q = Vector(g["q"]), next = Vector(g["next_q"]).view({4, 2});
  const auto loss = [&] {
    return HuberTdLoss(q, Vector(g["reward"]), Vector(g["done"]), next, g["gamma"]);
  };
  ExpectNear(loss().target, g["target"]);
  ExpectNear(loss().loss, g["loss"]);
  ExpectNear(loss().gradient, g["grad"]);
  ExpectDerivative(q, loss().gradient, [&] { return loss().loss; });
}

TEST(Returns, OfAnEpisode) {
  const json& g = Golden()["mc_return"];
  ExpectNear(Doubles(DiscountedReturns(Flat(g["rewards"]), g["gamma"])), g["returns"], 1e-12);
}

TEST(Returns, GeneralizedAdvantages) {
  const json& g = Golden()["gae"];
  GaeInput in;
  in.rewards = Vector(g["rewards"]).view({5, 2});
  in.done = Vector(g["done_after_step"]).view({5, 2});
  in.values = Fill({5, 2}, 0.8, 0.2, 2);
  in.bootstrap = Vector(g["bootstrap"]);
  const Advantages result = GeneralizedAdvantages(in);
  ExpectNear(result.advantages, g["advantages"]);
  ExpectNear(result.returns, g["returns"]);
  ExpectNear(result.advantages.t(), g["flat_env_major_advantages"]);
}

TEST(Returns, Selections) {
  const auto expect = [](const Selection& selection, const json& golden, const char* indices) {
    EXPECT_EQ(json(selection.kept), golden[indices]);
    if (golden.contains("cutoff")) ExpectNear(selection.cutoff, golden["cutoff"]);
  };
  const json &mixed = Golden()["filtered_bc_quantile_mixed"],
             &ties = Golden()["filtered_bc_quantile_ties"], &top = Golden()["offline_filter_top"];
  expect(KeepByQuantile(Flat(mixed["returns"]), 0.1), mixed, "kept_indices");
  expect(KeepByQuantile(Flat(ties["returns"]), 0.1), ties, "kept_indices");
  expect(KeepTop(Flat(top["returns"]), top["fraction"]), top, "kept_indices_in_order");
}

TEST(Returns, BestSamples) {
  const json& g = Golden()["chai_select"];
  const Tensor q1 = Fill({5, 4}, 0.77, 0.4), q2 = Fill({5, 4}, 0.61, 1.3);
  const Tensor best = BestSamples(q1, q2);
  ExpectNear(best, g["argmax_sample_per_state"], 0);
  ExpectNear(at::minimum(q1, q2).gather(0, best.unsqueeze(0)), g["values"]);
  const Tensor equal = at::zeros({3, 1}, at::kDouble);
  EXPECT_EQ(BestSamples(equal, equal).item<int64_t>(), 0);
}

TEST(Returns, PolyakAverage) {
  const json& g = Golden()["polyak"];
  const Tensor online = Fill({4}, 1.1, 2);
  const auto after = [&](double tau, int times) {
    const Parameter target{"t", Fill({4}, 1.1, 0), {}};
    for (int i = 0; i < times; ++i) Polyak({target}, {{"o", online, {}}}, tau);
    return target.value;
  };
  ExpectNear(after(0.1, 1), g["tau_0.1"], 1e-12);
  ExpectNear(after(0.05, 1), g["tau_0.05"], 1e-12);
  ExpectNear(after(0.1, 3), g["tau_0.1_three_times"], 1e-12);
}

// S3, the paper's formula, is the softmax over sums of token log-probabilities.
TEST(PolicyLoss, ScoresOfListedActions) {
  const json& g = Golden()["glam_scoring"];
  const Tensor logits = Fill({6, 3, 9}, 0.41, 0.7, 3);
  const Tensor tokens = Vector(g["tokens (0=pad)"]).view({6, 3}).to(at::kLong);
  const Tensor scores = TokenLogProbs(logits, tokens, (tokens > 0).to(at::kDouble)).sum(1);
  ExpectNear(scores, g["S3_scores"]);
  ExpectNear(at::softmax(scores, 0), g["S3_policy"]);
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
  ExpectNear(q.Forward(at::cat({state, action}, 1), false), Golden()["archer_q_head_small"]["q"]);
  Mlp v = GoldenHead({8, 16, 16, 1}, Activation::kSigmoid, 0.29);
  ExpectNear(v.Forward(state, false), Golden()["glam_value_head_small"]["v"]);
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
    const json& g = Golden()["adam_step_clip"][key][static_cast<size_t>(k)];
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
  AdamWOptions options;
  ExpectAdam("adam_lr1e-2_eps1e-8", options);
  options.epsilon = 1e-5;
  ExpectAdam("adam_lr1e-2_eps1e-5", options);
  options.epsilon = 1e-8;
  options.weight_decay = 0.1;
  ExpectAdam("adamw_lr1e-2_wd0.1", options);
}

TEST(RewardOptimiser, CosineWithWarmup) {
  const json& g = Golden()["cosine_warmup"];
  ScheduleOptions options;
  options.learning_rate = 1;
  options.warmup = 3.0 / 20;
  std::vector<double> factors;
  for (int step = 0; step < 20; ++step) factors.push_back(LearningRate(options, step, 20));
  const std::vector<double> all = Flat(g["factor"]);
  ExpectNear(Doubles(factors), std::vector<double>(all.begin(), all.begin() + 20), 1e-12);
}

}  // namespace
}  // namespace agentr
