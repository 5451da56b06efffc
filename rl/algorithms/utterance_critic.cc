#include "rl/algorithms/utterance_critic.h"

#include "rl/agent_rl.h"
#include "rl/losses/returns.h"
#include "training/model/divergence.h"

namespace agentr {
namespace {

using at::Tensor;

constexpr uint64_t kCriticSeed = 0x0C;  // so that its random weights are not the policy's

}  // namespace

UtteranceCritic::Side::Side(const AgentRlOptions& o, const ModelConfig& config)
    : network(config, *FirstWeights(o.start, config, o.seed ^ kCriticSeed), {}), heads([&] {
        const int64_t width = config.hidden_size, inner = o.critic.width;
        const auto head = [&](const char* name, int64_t inputs) {
          return Mlp(name, {inputs, inner, inner, 1}, Activation::kRelu, o.seed ^ kCriticSeed);
        };
        return std::array<Mlp, 4>{head("q1", 2 * width), head("q2", 2 * width), head("v1", width),
                                  head("v2", width)};
      }()) {}

std::vector<Parameter> UtteranceCritic::Side::HeadParameters() const {
  std::vector<Parameter> all;
  for (const Mlp& head : heads) {
    all.insert(all.end(), head.parameters().begin(), head.parameters().end());
  }
  return all;
}

DoubleCritic UtteranceCritic::Side::Heads(const Tensor& states, const Tensor& actions, bool keep) {
  const Tensor pair = at::cat({states, actions}, 1);
  return {heads[0].Forward(pair, keep).squeeze(1), heads[1].Forward(pair, keep).squeeze(1),
          heads[2].Forward(states, keep).squeeze(1), heads[3].Forward(states, keep).squeeze(1)};
}

UtteranceCritic::UtteranceCritic(const AgentRlOptions& o, const ModelConfig& config,
                                 ProcessGroup* group)
    : o_(o.critic),
      gamma_(o.experience.gamma),
      group_(group),
      online_(o, config),
      target_(o, config),
      trainer_([&]() -> Trainer {
        online_.network.TrainAll();
        for (Mlp& head : online_.heads) head.Train();
        return Trainer(online_.network, o.adamw, online_.HeadParameters(), group, "--critic_lr");
      }()) {}

std::vector<Parameter> UtteranceCritic::target_parameters() const {
  std::vector<Parameter> all = target_.network.weights();
  for (const Parameter& p : target_.HeadParameters()) all.push_back(p);
  for (Parameter& p : all) p.name = "target." + p.name;
  return all;
}

DoubleCritic UtteranceCritic::Judge(std::span<const TokenIds> states,
                                    std::span<const TokenIds> actions, bool target) {
  std::vector<TrainingRow> rows;
  std::vector<RowToken> tokens;
  for (size_t i = 0; i < states.size(); ++i) AddPair(states[i], actions[i], rows, tokens);
  Side& side = target ? target_ : online_;
  const SharedPass pass(group_, side.network, rows, tokens, /*keep=*/false);
  const Tensor read = pass.states().view({static_cast<int64_t>(states.size()), 2, -1});
  const DoubleCritic judged = side.Heads(read.select(1, 0), read.select(1, 1), /*keep=*/false);
  RequireFinite(at::stack({judged.q1, judged.q2, judged.v1, judged.v2}), "the critic",
                "--critic_lr");
  return judged;
}

CriticTargets UtteranceCritic::TargetsOf(const CriticBatch& batch,
                                         std::optional<double> expectile) {
  std::vector<TrainingRow> rows;
  std::vector<RowToken> tokens;
  const auto count = static_cast<int64_t>(batch.states.size());
  for (size_t i = 0; i < batch.states.size(); ++i) {
    AddPair(batch.states[i], batch.target_actions[i], rows, tokens);
  }
  for (const TokenIds& next : batch.next_states) {
    tokens.push_back({rows.size(), static_cast<int32_t>(next.size()) - 1});
    rows.emplace_back().ids = next;
  }
  const SharedPass pass(group_, target_.network, rows, tokens, /*keep=*/false);
  const Tensor states = pass.states();
  const Tensor read = states.narrow(0, 0, 2 * count).view({count, 2, -1});
  const DoubleCritic here = target_.Heads(read.select(1, 0), read.select(1, 1), false);
  const Tensor next = states.narrow(0, 2 * count, count);
  const Tensor next_v1 = target_.heads[2].Forward(next, false).squeeze(1);
  const Tensor next_v2 = target_.heads[3].Forward(next, false).squeeze(1);
  return {batch.reward, batch.done, next_v1, next_v2, here.q1, here.q2, gamma_, expectile};
}

CriticLoss UtteranceCritic::Learn(const CriticBatch& batch, std::optional<double> expectile) {
  const CriticTargets targets = TargetsOf(batch, expectile);
  std::vector<TrainingRow> rows;
  std::vector<RowToken> tokens;
  for (size_t i = 0; i < batch.states.size(); ++i) {
    AddPair(batch.states[i], batch.actions[i], rows, tokens);
  }
  SharedPass pass(group_, online_.network, rows, tokens, /*keep=*/true);
  learned_tokens_ = pass.tokens();
  const Tensor read = pass.states().view({static_cast<int64_t>(rows.size()), 2, -1});
  const DoubleCritic now = online_.Heads(read.select(1, 0), read.select(1, 1), /*keep=*/true);
  const CriticLoss loss = DoubleCriticLoss(now, targets);
  Backward(pass, loss.gradient);
  trainer_.UpdateFor(loss.total(), o_.learning_rate);
  Polyak(target_.network.weights(), online_.network.weights(), o_.tau);
  Polyak(target_.HeadParameters(), online_.HeadParameters(), o_.tau);
  target_.network.Refresh();
  return loss;
}

void UtteranceCritic::Backward(SharedPass& pass, const DoubleCritic& gradient) {
  const auto back = [&](size_t head, const Tensor& by_value) {
    return online_.heads[head].Backward(by_value.unsqueeze(1));
  };
  const Tensor by_pair = back(0, gradient.q1) + back(1, gradient.q2);
  const Tensor by_state = back(2, gradient.v1) + back(3, gradient.v2);
  const int64_t count = by_state.size(0), width = by_state.size(1);
  const Tensor both =
      at::stack({by_pair.narrow(1, 0, width) + by_state, by_pair.narrow(1, width, width)}, 1);
  pass.Backward(at::zeros({count}, at::kFloat), both.view({2 * count, width}));
}

}  // namespace agentr
