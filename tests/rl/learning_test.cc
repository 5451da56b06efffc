// The algorithms on the toy game Echo, with a model of two layers from random weights: that they
// learn, and what must hold while they do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/options.h"
#include "rl/agent_rl.h"
#include "rl/algorithms/baseline_step.h"
#include "rl/algorithms/utterance_critic.h"
#include "rl/losses/returns.h"
#include "rl/rl_context.h"
#include "tests/cli/program.h"
#include "tests/training/finite_difference.h"

namespace agentr {
namespace {

using at::Tensor;

// A folder with the bundled tokenizer and the configuration of a tiny Qwen2, without a bias behind
// attention.
void WriteEchoModel(const std::filesystem::path& folder) {
  const std::filesystem::path bundled = AGENTR_SOURCE_DIR "/models/bundled";
  auto config = nlohmann::ordered_json::parse(ReadFile(bundled / "config.json"));
  config["model_type"] = "qwen2";
  config["architectures"] = {"Qwen2ForCausalLM"};
  config.erase("attention_bias");
  config["hidden_size"] = 64;
  config["intermediate_size"] = 128;
  config["num_hidden_layers"] = 2;
  config["torch_dtype"] = "float32";
  WriteFileAtomically(folder / "config.json", config.dump());
  for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
    WriteFileAtomically(folder / file, ReadFile(bundled / file));
  }
}

class Learning : public ::testing::Test {
 protected:
  Learning() {
    WriteEchoModel(folder_.path() / "model");
    o_.start.dir = (folder_.path() / "model").string();
    o_.output_dir = (folder_.path() / "result").string();
    o_.start.from_scratch = true;
    o_.start.attention = InitialAttention::kInduction;
    o_.threads = 1;
    o_.schedule = {1e-3, "constant", 0, 0};
    o_.eval_every = 0;
    o_.eval_episodes = 100;
    o_.save_every = 1000;
    o_.world.task = WorldKind::kEcho;
    o_.experience.max_new_tokens = 4;
  }

  // The last evaluation.
  nlohmann::json Run(MakeAlgorithm algorithm) {
    o_.algorithm = algorithm;
    const OptionSet set("agent_rl", "");
    EXPECT_EQ(AgentRl(o_, set), ExitCode::kOk);
    nlohmann::json last;
    for (const nlohmann::json& line : ReadRows(RlFolder(o_) / "metrics.jsonl")) {
      if (line.contains("evaluation")) last = line["evaluation"];
    }
    return last;
  }

  ScratchFolder folder_;
  AgentRlOptions o_;
};

// The copy of random legal play is random legal play (-7.0); that of its best tenth is better.
TEST_F(Learning, CloningCopiesAndFilteredCloningImproves) {
  o_.world.environments = 100;
  o_.experience.player = "random";
  o_.experience.steps = 64;
  o_.experience.updates = 90;
  o_.iterations = 1;
  const double copied = Run(&MakeCloning)["return"];
  EXPECT_GT(copied, -7.6);
  EXPECT_LT(copied, -6.4);
  o_.experience.updates = 130;
  EXPECT_GT(Run(&MakeFilteredCloning)["return"].get<double>(), -4.5);
}

TEST_F(Learning, PpoSolvesListedEcho) {
  o_.world.task = WorldKind::kEchoListed;
  o_.world.environments = 16;
  o_.world.reward_scale = 20;
  o_.experience.steps = 16;
  o_.experience.batch = 64;
  o_.ppo.value_width = 64;
  o_.adamw.epsilon = 1e-5;
  o_.adamw.max_norm = 0.5;
  o_.iterations = 12;
  const nlohmann::json result = Run(&MakePpo);
  EXPECT_GE(result["success"].get<double>(), 0.95);
  EXPECT_LE(result["length"].get<double>(), 4.0) << "random play: 7.3; the best: 3";
}

// With adapters the start weights stay, and what plays, and is exported, has the adapters in it.
TEST_F(Learning, AdaptersLearn) {
  o_.world.environments = 20;
  o_.experience.player = "expert";
  o_.experience.steps = 16;
  o_.experience.updates = 20;
  o_.iterations = 2;
  o_.lora.rank = 4;
  o_.eval_episodes = 0;
  Run(&MakeCloning);
  const std::vector<nlohmann::json> lines = ReadRows(RlFolder(o_) / "metrics.jsonl");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_LT(lines[1]["train"]["loss"], 0.9 * lines[0]["train"]["loss"].get<double>());
  const WeightFiles exported(RlFolder(o_) / "model");
  const auto start = PolicyModel(o_).Snapshot(0);
  for (const auto& [name, weight] : start->weights()) {
    const auto& learned = exported.weights().at(name);
    const bool same = std::ranges::equal(learned.data, weight.data);
    EXPECT_EQ(same, name.find("_proj.weight") == std::string::npos) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(RlFolder(o_) / "adapter" / "adapter_model.safetensors"));
  o_.lora.dropout = 0.1;
  EXPECT_THROW(Run(&MakeCloning), FatalError);
}

// What the sampler says of its actions is what the network scores for the update.
TEST_F(Learning, ScoredProbabilitiesAreTheSamplers) {
  o_.world.environments = 12;
  o_.eval_episodes = 0;
  for (const WorldKind task : {WorldKind::kEcho, WorldKind::kEchoListed}) {
    o_.world.task = task;
    RlContext context(o_, folder_.path() / NameOf(kWorldNames, task), 0);
    Actor& player = context.Player(0, /*greedy=*/false);
    context.recorder().Play(player, 4, RandomStream(5));
    const TransitionStore& store = context.store();
    ASSERT_EQ(store.size(), 48);
    for (int64_t n = 0; n < store.size(); ++n) {
      const Transition t = store.Read(n);
      if (t.choice.listed >= 0) {
        ListedPolicy policy(context.policy(), nullptr, context.world().actions());
        const Tensor scores = policy.Score({&t.prompt, 1}, false).scores;
        EXPECT_NEAR(t.choice.logprobs[0],
                    at::log_softmax(scores, 1)[0][t.choice.listed].item<float>(), 1e-4);
        continue;
      }
      const std::vector<TrainingRow> rows = {ActionRow(t.prompt, t.choice.tokens)};
      const RowPass pass(context.policy().network(), rows, {}, false);
      const std::vector<double>& scored = pass.token_log_probs()[0];
      ASSERT_EQ(scored.size(), t.choice.logprobs.size());
      for (size_t i = 0; i < scored.size(); ++i) EXPECT_NEAR(t.choice.logprobs[i], scored[i], 1e-4);
    }
  }
}

// PPO's gradient through scores, values, head and network.
TEST_F(Learning, PpoGradientsAreRight) {
  PolicyModel model(o_);
  Mlp head = MakeValueHead(64, 16, Activation::kSigmoid, 1);
  const std::vector<std::string_view> actions = {"g0", "g1", "g2"};
  ListedPolicy policy(model, &head, actions);
  const std::vector<std::vector<int32_t>> prompts = {model.PromptIds("2 g1 - 2 "),
                                                     model.PromptIds("2 g1 - 2 g2 + 0 ")};
  PpoInput noted;
  noted.action = at::tensor(at::ArrayRef<int64_t>({1, 2}), at::kLong);
  noted.advantage = at::tensor(at::ArrayRef<float>({20.0f, -30.0f}), at::kFloat);
  noted.returns = at::tensor(at::ArrayRef<float>({20.0f, -15.0f}), at::kFloat);
  // Inside the ranges in which nothing is clipped.
  const ListedPolicy::Scores before = policy.Score(prompts, false);
  noted.old_logprob =
      at::log_softmax(before.scores, 1).gather(1, noted.action.unsqueeze(1)).squeeze(1) - 0.05;
  noted.old_values = before.values + 0.05;
  const auto loss = [&](bool keep) {
    model.network().Refresh();
    const ListedPolicy::Scores now = policy.Score(prompts, keep);
    noted.scores = now.scores;
    noted.values = now.values;
    return ClippedPpoLoss(noted, {});
  };
  const PpoLoss now = loss(true);
  policy.Backward(now.dscores, now.dvalues);
  std::vector<Parameter> all = model.network().trained();
  all.insert(all.end(), head.parameters().begin(), head.parameters().end());
  const std::vector<std::string> compared = ExpectLargestDerivatives(
      all, [&] { return loss(false).total; }, 5e-3, 0.01);
  EXPECT_GT(compared.size(), 12u);
  EXPECT_GT(std::ranges::count_if(
                compared, [](const std::string& name) { return name.starts_with("value_head"); }),
            2);
}

// A head that says 0 changes nothing: the policy's step is that of REINFORCE.
TEST_F(Learning, ABaselineOfZeroIsReinforce) {
  const auto step = [&](bool baseline) {
    PolicyModel model(o_);
    Mlp head("baseline", {64, 8, 1}, Activation::kRelu, 1);
    head.Train();
    for (const size_t last : {2, 3}) head.parameters()[last].value.zero_();
    Trainer trainer(model.network(), {.max_norm = 0}, head.parameters(), nullptr);
    std::vector<TrainingRow> rows;
    const std::vector<float> advantage = {0.5f, -2.0f, 1.0f};
    const std::vector<std::string> actions = {"g2", "g1 g1 g1", "g0"};
    for (size_t i = 0; i < 3; ++i) {
      rows.push_back(ActionRow(model.PromptIds("2 "), model.ActionIds(actions[i], false),
                               baseline ? 1 : advantage[i]));
    }
    WeightedStepSums sums;
    if (baseline) {
      const Tensor ahead = at::tensor(at::ArrayRef<float>(advantage), at::kFloat);
      BaselineStep(trainer, model.network(), head, rows, ahead, 1e-3, sums);
      EXPECT_GT(head.parameters()[3].value.abs().item<float>(), 0) << "the head learns";
    } else {
      WeightedStep(trainer, rows, 3, 1e-3, sums);
    }
    return RowPass(model.network(), rows, {}, false).log_probs();
  };
  EXPECT_LT((step(true) - step(false)).abs().max().item<float>(), 2e-3);
}

TEST_F(Learning, TheCriticsTargetFollowsItByTau) {
  o_.critic.learning_rate = 0;  // the online side stands still
  o_.critic.tau = 0.25;
  o_.critic.width = 16;
  PolicyModel model(o_);
  UtteranceCritic critic(o_, model.config());
  std::vector<Parameter> target = critic.target_parameters();
  std::vector<Tensor> first;
  for (Parameter& p : target) {
    first.push_back(p.value.clone());
    p.value.add_(1);
  }
  critic.TargetLoaded();
  CriticBatch batch;
  batch.states = batch.next_states = {model.PromptIds("2 ")};
  batch.actions = batch.target_actions = {model.ActionIds("g2", false)};
  batch.reward = batch.done = at::zeros({1}, at::kFloat);
  for (int i = 0; i < 3; ++i) critic.Learn(batch, std::nullopt);
  for (size_t i = 0; i < target.size(); ++i) {
    EXPECT_NEAR((target[i].value - first[i]).mean().item<float>(), 0.75 * 0.75 * 0.75, 1e-4)
        << target[i].name;
  }
}

// Two actions in one state, of which one is worth 1 and the other -1, and ends the game.
TEST_F(Learning, TheCriticLearnsWhichActionIsBetter) {
  for (const std::optional<double> expectile : {std::optional<double>(), std::optional(0.9)}) {
    o_.critic.learning_rate = 1e-3;
    o_.critic.width = 16;
    o_.critic.tau = 0.3;
    PolicyModel model(o_);
    UtteranceCritic critic(o_, model.config());
    CriticBatch batch;
    const TokenIds state = model.PromptIds("2 ");
    batch.states = batch.next_states = {state, state};
    batch.actions = {model.ActionIds("g2", false), model.ActionIds("g1", false)};
    batch.target_actions = batch.actions;
    batch.reward = at::tensor(at::ArrayRef<float>({1.0f, -1.0f}), at::kFloat);
    batch.done = at::ones({2}, at::kFloat);
    for (int i = 0; i < 40; ++i) critic.Learn(batch, expectile);
    const DoubleCritic judged = critic.Judge(batch.states, batch.actions, false);
    EXPECT_NEAR(judged.q1[0].item<float>(), 1, 0.1);
    EXPECT_NEAR(judged.q2[1].item<float>(), -1, 0.1);
    // The mean of the values, or near the better one.
    const float v = judged.v1[0].item<float>();
    EXPECT_NEAR(v, expectile ? 0.8f : 0.0f, 0.2f);
    const Tensor advantage = critic.Advantage(batch.states, batch.actions);
    EXPECT_GT(advantage[0].item<float>() - advantage[1].item<float>(), 1.7f);
  }
}

}  // namespace
}  // namespace agentr
