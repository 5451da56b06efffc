#include "rl/trees/tree_learning.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "common/options.h"
#include "rl/rl_context.h"
#include "training/data/row_order.h"
#include "training/distributed/job_fingerprint.h"
#include "training/run_state.h"
#include "training/trainer.h"

namespace agentr {
namespace {

RowOrder OrderOf(const TreeData& data, const AgentRlOptions& o) {
  RowPool pool;
  for (size_t i = 0; i < data.items.size(); ++i) {
    pool.rows.push_back({0, static_cast<uint32_t>(i)});
  }
  pool.group_begins = data.stretches;
  return RowOrder({pool}, o.experience.batch, o.seed);
}

// What the probabilities before training are of.
std::string ReferenceModel(const AgentRlOptions& o) {
  const std::string hash = ModelHash(o.start);
  return o.dtype == "float32" ? hash : hash + " in " + o.dtype;
}

void SayWhatIsLearned(const TreeData& data, TreeAlgorithmKind kind) {
  const TreeDataCounts& c = data.counts;
  fmt::print("{} {}", c.items, kind == TreeAlgorithmKind::kDpo ? "preferences" : "responses");
  if (c.trees > 0) fmt::print(" from {} responses of {} trees", c.nodes, c.trees);
  if (c.too_long > 0) fmt::print("; {} left out because they are too long", c.too_long);
  if (c.no_signal > 0) fmt::print("; {} left out without anything to learn", c.no_signal);
  fmt::print("\n");
}

class TreeLearning : public Algorithm {
 public:
  TreeLearning(RlContext& context, TreeAlgorithmKind kind)
      : o_(context.options()),
        kind_(kind),
        text_(LoadRowTokenizer(o_.start.dir, o_.trees.chat_template)),
        data_(ReadTreeData(TreeDataOptionsOf(o_), kind, text_)),
        order_(OrderOf(data_, o_)),
        objective_options_(TreeObjectiveOptionsOf(o_)),
        objective_(objective_options_, kind, data_, context.policy().network(), context.group()),
        trainer_(context.policy().network(), o_.adamw, {}, context.group()) {
    if (context.writes()) SayWhatIsLearned(data_, kind);
    if (context.writes() && kind == TreeAlgorithmKind::kTreeGrpo) {
      WarnOfTemperature(data_.temperature,
                        o_.trees.data.episodes.empty() ? "mcts_collect " : "agent_eval ");
    }
    RequireSame(context.group(),
                {{"what is learned from (--trees, --episodes, --pairs)", data_.hash,
                  fmt::format("{} items, hash {:.8}", data_.items.size(), data_.hash)}});
    // The network still has its first weights, also when a run continues: its checkpoint is loaded
    // after this.
    if (objective_.NeedsReference()) {
      objective_.UseReference(RlFolder(o_) / "reference.json", ReferenceModel(o_));
    }
  }

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    const int64_t updates = o_.experience.updates;
    const int64_t steps = updates * o_.iterations;
    nlohmann::ordered_json sums = nlohmann::ordered_json::object();
    for (int64_t step = iteration * updates; step < (iteration + 1) * updates; ++step) {
      nlohmann::ordered_json one = TakeStep(step, LearningRate(o_.schedule, step, steps));
      for (auto& [name, value] : one.items()) {
        sums[name] = sums.value(name, 0.0) + value.get<double>() / static_cast<double>(updates);
      }
    }
    sums["distinct_tokens"] = sums.value("distinct_tokens", 0.0) * static_cast<double>(updates);
    sums["epoch"] = static_cast<double>((iteration + 1) * updates) /
                    static_cast<double>(order_.steps_per_epoch());
    return {{"train", std::move(sums)}};
  }

  // agent_eval measures the policy.
  nlohmann::ordered_json Evaluate(int64_t /*iteration*/) override { return nullptr; }

  std::vector<Updater*> trainers() override { return {&trainer_}; }
  std::string DataDescription() const override { return data_.hash; }

 private:
  nlohmann::ordered_json TakeStep(int64_t step, double rate) {
    std::vector<size_t> items;
    for (const RowId row : order_.Step(step)) items.push_back(row.row);
    const TreeStepReport report = objective_.AddGradients(items);
    const StepReport update = trainer_.UpdateFor(report.loss, rate);
    nlohmann::ordered_json json = ToJson(report, kind_);
    json["gradient_norm"] = update.gradient_norm;
    json["lr"] = rate;
    return json;
  }

  const AgentRlOptions& o_;
  const TreeAlgorithmKind kind_;
  const RowTokenizer text_;
  const TreeData data_;
  RowOrder order_;
  const TreeObjectiveOptions objective_options_;
  TreeObjective objective_;
  Trainer trainer_;
};

}  // namespace

TreeDataOptions TreeDataOptionsOf(const AgentRlOptions& o) {
  TreeDataOptions data = o.trees.data;
  data.divide_by_std = o.trees.objective.grpo.divide_by_std;
  data.overlong = o.trees.objective.grpo.overlong;
  data.gamma = o.experience.gamma;
  data.seed = o.seed;
  return data;
}

TreeObjectiveOptions TreeObjectiveOptionsOf(const AgentRlOptions& o) {
  TreeObjectiveOptions objective = o.trees.objective;
  objective.grpo.constant = o.experience.max_new_tokens;
  return objective;
}

void Declare(OptionSet& set, TreeLearningOptions& o) {
  set.Group("Learning from search trees (dpo, awr, tree_grpo, grpo)");
  set.Add(
      "--trees", o.data.input.input_dir,
      "Trees of mcts_collect: DIR/TASK/MODEL/search_results_ID.json, of which the newest folder "
      "is used, or the folder itself");
  set.Add("--episodes", o.data.episodes,
          "grpo: episodes of agent_eval with --attempts, OUTPUT_DIR/TASK/MODEL_local; those of one "
          "task are a group. Empty: it plays --task itself");
  set.Add("--pairs", o.data.pairs,
          "dpo: a file of preferences instead of trees (repeatable), as path_collect --data_type "
          "preferences or --format preference writes it: {\"prompt\": [messages], \"chosen\": "
          "[message], \"rejected\": [message]}");
  set.Add("--trees_model", o.data.input.model_name,
          "Name of the model whose trees are used (default: that of the newest trees)");
  set.Add("--min_task", o.data.input.min, "First task id").Min(0);
  set.Add("--max_task", o.data.input.max, "One past the last task id").Min(0);
  set.Add("--max_pairs_per_task", o.data.max_pairs_per_task,
          "Largest number of preferences of a tree, chosen at random; 0: all")
      .Min(0);
  set.Add("--max_length", o.data.max_length,
          "Longest row of prompt and response, in tokens; longer ones are left out")
      .Min(2);
  set.Add("--batch_tokens", o.objective.batch_tokens,
          "Largest number of distinct tokens that are computed at once")
      .Min(1);
  set.Add("--chat_template", o.chat_template,
          "Format of conversations: auto (the folder's own), llama-3, chatml, mistral or plain "
          "(built in), or a Jinja file");
  Declare(set, o.data.preferences);
  Declare(set, o.objective.dpo);
  Declare(set, o.objective.awr);
  Declare(set, o.objective.grpo);
  set.Add("--step_advantage", o.data.step_advantage,
          "GRPO and tree_grpo: weight of the advantage of a step among the steps taken in equal "
          "states, by their returns discounted with --gamma (GiGPO: 1); 0: episodes only")
      .Range(0, 1e6);
  set.AddNamed("--step_return", o.data.step_return, kStepReturns,
               "With --step_advantage, the return of a step: episode, the discounted reward of its "
               "episode (GiGPO); graph, that at the end of the shortest way on which the steps of "
               "all episodes lead from there (GraphGPO, with --gamma 0.1)");
}

void WarnOfTemperature(double temperature, std::string_view program) {
  if (temperature == 1) return;
  spdlog::warn(
      "{0}--temperature {1:g}: the responses are drawn at this temperature, but GRPO compares "
      "probabilities of the model's own distribution, so that its ratios are not of the policy "
      "that played. Cure: {0}--temperature 1",
      program, temperature);
}

std::unique_ptr<Algorithm> MakeDpo(RlContext& context) {
  return std::make_unique<TreeLearning>(context, TreeAlgorithmKind::kDpo);
}

std::unique_ptr<Algorithm> MakeAwr(RlContext& context) {
  return std::make_unique<TreeLearning>(context, TreeAlgorithmKind::kAwr);
}

std::unique_ptr<Algorithm> MakeTreeGrpo(RlContext& context) {
  return std::make_unique<TreeLearning>(context, TreeAlgorithmKind::kTreeGrpo);
}

}  // namespace agentr
