#include "loop/loop_plan.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"
#include "common/options.h"
#include "tasks/task_kinds.h"
#include "training/data/data_options.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// The model's name in every stage. The iterations differ in their weights and folders.
constexpr const char* kModelName = "model";

std::string Argument(const std::string& flag, const std::string& value) {
  return fmt::format("--{}={}", flag, value);
}

const std::string& AlphaOf(const SelfTrainOptions& o, int iteration) {
  return o.alpha[std::min(o.alpha.size() - 1, static_cast<size_t>(iteration - 1))];
}

fs::path IterationFolder(const SelfTrainOptions& o, int iteration) {
  return LoopFolder(o) / fmt::format("iteration_{}", iteration);
}

DataPath Demonstrations(const std::string& value) {
  return DataPath::Parse(value, "--demonstrations");
}

// Either all files of a training have weights or none.
bool HasWeights(const SelfTrainOptions& o) {
  return o.revised_weight > 0 ||
         std::ranges::any_of(o.demonstrations, [](const std::string& value) {
           return Demonstrations(value).weight > 0;
         });
}

void CheckDemonstrations(const SelfTrainOptions& o) {
  for (const std::string& value : o.demonstrations) {
    const DataPath demonstrations = Demonstrations(value);
    if (!fs::exists(demonstrations.path)) {
      throw FatalError(
          ExitCode::kFile,
          fmt::format("--demonstrations {}: there is no file {}. Cure: name a file of rows, or "
                      "leave the option out",
                      value, demonstrations.path));
    }
    if (demonstrations.weight > 0 || !HasWeights(o)) continue;
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("--demonstrations {} has no weight, but {}. Cure: --demonstrations {}:WEIGHT",
                    value,
                    o.revised_weight > 0 ? "--revised_weight gives one to the other rows"
                                         : "others have one",
                    value));
  }
}

// Builds the stages of one iteration.
class IterationPlan {
 public:
  IterationPlan(const SelfTrainOptions& options, int iteration) : o_(options), at_(iteration) {}

  LoopStage Collect(const std::string& task) const {
    LoopStage stage = MakeFor(task, "collect", kCollects);
    Append(stage, {Argument("task", task), Argument("model_dir", ModelBefore()),
                   Argument("model_name", kModelName), Seed()});
    return With(o_.collect, task, std::move(stage));
  }

  LoopStage Revise(const std::string& task, const std::string& data_type) const {
    LoopStage stage = MakeFor(task, "revise_" + data_type, kRevises);
    Append(stage, {Argument("input_dir", MakeFor(task, "collect", "").folder.string()),
                   Argument("task", task), Argument("model_dir", ModelBefore()),
                   Argument("model_name", kModelName), Argument("data_type", data_type),
                   Argument("alpha", AlphaOf(o_, at_)), Argument("beta", o_.beta), Seed()});
    if (o_.method == "direct-revision" && data_type == kRevisedRows) {
      stage.arguments.emplace_back(Argument("verifier", "none"));
    }
    if (o_.prefer_steps > 0 && data_type == kRevisedRows) {
      for (const char* format : {"agent-r", "messages", "preference"}) {
        stage.arguments.emplace_back(Argument("format", format));
      }
    }
    return With(o_.revise, task, std::move(stage));
  }

  LoopStage Train(const std::vector<std::string>& data_types) const {
    LoopStage stage = Make("train", kTrains);
    const int from = o_.train_from == "start" ? 0 : at_ - 1;
    Append(stage, {Argument("model_dir", ModelAfter(o_, from).string()),
                   Argument("name", kModelName), Argument("merge_adapters", "1"), Seed()});
    AddTemplate(stage);
    if (!o_.chat_kwargs.empty()) Append(stage, {Argument("chat_kwargs", o_.chat_kwargs)});
    // What a training has made is a whole model.
    if (!o_.base_model.empty() && from == 0) Append(stage, {Argument("base_model", o_.base_model)});
    for (int iteration = FirstRows(); iteration <= at_; ++iteration) {
      for (const std::string& task : o_.tasks) {
        for (const std::string& type : data_types) {
          stage.arguments.emplace_back(
              Argument("data", RowsOf(iteration, task, type, "messages") + WeightOf(type)));
        }
      }
    }
    for (const std::string& path : o_.demonstrations) {
      stage.arguments.emplace_back(Argument("data", path));
    }
    if (o_.train_tokens > 0) {
      const auto iterations = static_cast<uint64_t>(IterationsOfRows());
      stage.arguments.emplace_back(
          Argument("train_tokens", std::to_string(o_.train_tokens * iterations)));
    }
    AddArguments(stage, o_.train);
    return stage;
  }

  // The values are those of configs/rl/corrections.toml (a test compares them), where their reasons
  // are.
  LoopStage Prefer() const {
    LoopStage stage = Make("prefer", kPrefers);
    Append(stage, {Argument("algorithm", "dpo"), Argument("model_dir", Trained(o_, at_).string()),
                   Argument("name", kModelName), Seed()});
    AddTemplate(stage);
    for (int iteration = FirstRows(); iteration <= at_; ++iteration) {
      for (const std::string& task : o_.tasks) {
        stage.arguments.emplace_back(
            Argument("pairs", RowsOf(iteration, task, kRevisedRows, "preference")));
      }
    }
    Append(stage, {Argument("iterations", std::to_string(o_.prefer_steps * IterationsOfRows())),
                   Argument("updates", "1"), Argument("batch", "8"), Argument("lr", "1e-5"),
                   Argument("dpo_beta", "0.1"), Argument("dpo_likelihood", "0.5"),
                   Argument("max_length", "2048")});
    AddArguments(stage, o_.prefer);
    return stage;
  }

  // The model that agent_train makes in `iteration`.
  static fs::path Trained(const SelfTrainOptions& o, int iteration) {
    return IterationFolder(o, iteration) / "train" / kModelName / "model";
  }

  LoopStage Evaluate(const std::string& task) const { return MakeEvaluation(task, "evaluate", 1); }
  LoopStage EvaluateWithSlips(const std::string& task) const {
    LoopStage stage = MakeEvaluation(task, "slip", 1);
    AddArguments(stage, {Secret(Argument("slip", fmt::format("{}", o_.eval_slip)))});
    return stage;
  }
  LoopStage EvaluateBySampling(const std::string& task) const {
    return MakeEvaluation(task, "sample", o_.attempts);
  }

 private:
  LoopStage Make(const std::string& what, const char* program) const {
    LoopStage stage;
    stage.name = fmt::format("iteration_{}/{}", at_, what);
    stage.program = program;
    stage.iteration = at_;
    stage.folder = IterationFolder(o_, at_) / what;
    stage.arguments = {Argument("output_dir", stage.folder.string())};
    return stage;
  }

  // A stage that exists once for each task.
  LoopStage MakeFor(const std::string& task, const std::string& what, const char* program) const {
    return Make(o_.tasks.size() == 1 ? what : what + "_" + task, program);
  }

  LoopStage MakeEvaluation(const std::string& task, const std::string& what, int attempts) const {
    LoopStage stage = MakeFor(task, what, kEvaluates);
    Append(stage,
           {Argument("task", task), Argument("model_dir", ModelAfter(o_, at_).string()),
            Argument("model_name", kModelName), Argument("attempts", std::to_string(attempts)),
            Argument("seed", std::to_string(o_.seed))});
    return With(o_.evaluate, task, std::move(stage));
  }

  // The first iteration whose rows the trainings of this one use.
  int FirstRows() const { return o_.rows == "all" ? 1 : at_; }
  int IterationsOfRows() const { return at_ - FirstRows() + 1; }

  std::string RowsOf(int iteration, const std::string& task, const std::string& data_type,
                     std::string_view format) const {
    const fs::path folder =
        IterationPlan(o_, iteration).MakeFor(task, "revise_" + data_type, "").folder;
    return (folder / fmt::format("{}_{}.{}.jsonl", task, data_type, format)).string();
  }

  void AddTemplate(LoopStage& stage) const {
    if (o_.chat_template != "auto") Append(stage, {Argument("chat_template", o_.chat_template)});
  }

  // What follows the path of rows in --data. The rows of several iterations share the weight of
  // their type, so that the mixture stays the same: if every iteration added its own weight, the
  // demonstrations' share would fall, and what they keep from being forgotten would be.
  std::string WeightOf(const std::string& data_type) const {
    if (!HasWeights(o_)) return "";
    const bool revised = data_type == kRevisedRows && o_.revised_weight > 0;
    return fmt::format(":{:.6g}", (revised ? o_.revised_weight : 1.0) / IterationsOfRows());
  }

  std::string ModelBefore() const { return ModelAfter(o_, at_ - 1).string(); }

  // A different seed in each iteration, because the same draws would give the same mistakes again.
  std::string Seed() const {
    return Argument("seed", std::to_string(1000 * o_.seed + static_cast<uint64_t>(at_)));
  }

  static void Append(LoopStage& stage, const std::vector<Secret>& arguments) {
    stage.arguments.insert(stage.arguments.end(), arguments.begin(), arguments.end());
  }

  // Adds the further arguments that are for all tasks or for this one.
  LoopStage With(const std::vector<Secret>& further, const std::string& task,
                 LoopStage stage) const {
    std::vector<Secret> own;
    for (const Secret& given : further) {
      const std::string& argument = given.Reveal();
      const size_t dashes = argument.find("--");
      if (dashes == 0 || dashes == std::string::npos) {
        own.push_back(given);
      } else if (argument.substr(0, dashes) == task + ":") {
        own.emplace_back(argument.substr(dashes));
      }
    }
    AddArguments(stage, own);
    return stage;
  }

  const SelfTrainOptions& o_;
  const int at_;
};

}  // namespace

void Declare(OptionSet& set, SelfTrainOptions& o) {
  set.Group("Loop");
  set.Add(
      "--task", o.tasks,
      fmt::format("Kind of task: {}, or FILE.toml; repeatable, so that one model learns several",
                  TaskNames()),
      "TASK");
  DeclareTaskFiles(set, o.task_files, o.tasks, "Loop");
  set.Add("--model_dir", o.model_dir, "Hugging Face folder of the model to start from");
  set.Add("--output_dir", o.output_dir, "Results are written to OUTPUT_DIR/NAME").OnlyOutput();
  set.Add("--name", o.name, "Name of the run").OnlyOutput();
  set.Add("--iterations", o.iterations, "Number of times to search, revise, train and evaluate")
      .Min(0)
      .OnlyOutput();
  set.Add("--method", o.method,
          "Training data: agent-r (mistakes revised at their first error, and good paths), "
          "good-only (only good paths: rejection sampling), direct-revision (whole bad paths "
          "revised, and good paths), search-only (none: the start model keeps searching)")
      .OneOf({"agent-r", "good-only", "direct-revision", "search-only"});
  set.Add("--alpha", o.alpha,
          "Smallest reward of a good path in each iteration (repeatable); the last value also "
          "holds for later iterations");
  set.Add("--beta", o.beta, "A bad path is worse than its good partner by more than this");
  set.Add("--train_from", o.train_from,
          "The model with which each training begins: start (always the first one) or last")
      .OneOf({"start", "last"});
  set.Add("--rows", o.rows,
          "Rows that each training uses: last (those of its iteration), all (also those of earlier "
          "iterations; goes well with --train_from start)")
      .OneOf({"last", "all"});
  set.Add("--demonstrations", o.demonstrations,
          "Rows that every training uses in addition, PATH or PATH:WEIGHT; the good paths of all "
          "iterations that it uses together have the weight 1 (repeatable)");
  set.Add("--revised_weight", o.revised_weight,
          "Weight of the revised rows in the mixture, all iterations together; that of the good "
          "paths is 1 (0: 1 too, and without weighted demonstrations every row is drawn once an "
          "epoch)")
      .Min(0);
  set.Add("--train_tokens", o.train_tokens,
          "Trained tokens for the rows of one iteration; a training on the rows of several (--rows "
          "all) has as many times more (0: what --train says)")
      .Range(0, kMostTrainTokens);
  set.Add("--prefer_steps", o.prefer_steps,
          "Optimiser steps of a second training behind each, by agent_rl: DPO on what the revised "
          "rows correct, so that behind a refusal the turn that mends is preferred to the refused "
          "one again; as many times more for the rows of several iterations (--rows all). 0: none")
      .Range(0, 100000);
  set.Add("--attempts", o.attempts,
          "Episodes of each task in a second evaluation, sampled, for avg@k and pass@k; 0: none")
      .Min(0);
  set.Add(
         "--eval_slip", o.eval_slip,
         "Probability of a slip in a further evaluation (agent_eval --slip; other options of it by "
         "--evaluate); 0: none")
      .Range(0, 1);
  set.Add("--seed", o.seed, "Seed of every random choice of the run");
  set.Group("Stages");
  set.AddArguments(
      "--collect", o.collect,
      "An additional argument of mcts_collect (repeatable); with the name of a task and a colon "
      "before it, as in webshop:--max=100, only for that task, in each of these lists");
  set.AddArguments("--revise", o.revise, "An additional argument of path_collect (repeatable)");
  set.AddArguments("--train", o.train, "An additional argument of agent_train (repeatable)");
  set.AddArguments("--prefer", o.prefer,
                   "An additional argument of agent_rl, with --prefer_steps (repeatable)");
  set.AddArguments("--evaluate", o.evaluate, "An additional argument of agent_eval (repeatable)");
}

void Check(const SelfTrainOptions& o) {
  if (o.model_dir.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "there is no model to start from: name its Hugging Face folder with "
                     "--model_dir");
  }
  if (o.tasks.empty()) {
    throw FatalError(ExitCode::kUsage, "--task has no value: name the kind of task to learn");
  }
  for (const auto* list : {&o.collect, &o.revise, &o.evaluate}) {
    for (const Secret& given : *list) {
      const std::string& argument = given.Reveal();
      const size_t dashes = argument.find("--");
      if (dashes == 0 || dashes == std::string::npos) continue;
      const std::string task = argument.substr(0, dashes - 1);
      if (argument[dashes - 1] == ':' && std::ranges::find(o.tasks, task) != o.tasks.end())
        continue;
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("\"{}\" is not for a task of this run ({}): write --FLAG=VALUE, or "
                      "TASK:--FLAG=VALUE",
                      given.Redacted(), fmt::join(o.tasks, ", ")));
    }
  }
  if (o.alpha.empty()) {
    throw FatalError(ExitCode::kUsage, "--alpha has no value: give one, or one per iteration");
  }
  if (o.prefer_steps > 0 && o.method != "agent-r" && o.method != "direct-revision") {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--prefer_steps learns from revised rows, and --method {} makes "
                                 "none. Cure: --method agent-r, or --prefer_steps 0",
                                 o.method));
  }
  if (o.prefer_steps > 0 && !o.chat_kwargs.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "--chat_kwargs: agent_rl, which --prefer_steps calls, writes prompts without "
                     "them, so that the model would learn from other prompts than it plays with. "
                     "Cure: --prefer_steps 0, or a --chat_template file that needs none");
  }
  CheckDemonstrations(o);
}

fs::path LoopFolder(const SelfTrainOptions& options) {
  return fs::path(options.output_dir) / options.name;
}

fs::path ModelAfter(const SelfTrainOptions& options, int iteration) {
  if (iteration == 0 || options.method == "search-only") return options.model_dir;
  return options.prefer_steps > 0
             ? IterationFolder(options, iteration) / "prefer" / kModelName / "model"
             : IterationPlan::Trained(options, iteration);
}

void AddArguments(LoopStage& stage, const std::vector<Secret>& further) {
  const auto flag_of = [](const Secret& argument) {
    return argument.Reveal().substr(0, argument.Reveal().find('='));
  };
  for (const Secret& argument : further) {
    const std::string flag = flag_of(argument);
    if (flag == "--data" || flag == "--pairs") continue;
    std::erase_if(stage.arguments, [&](const Secret& own) { return flag_of(own) == flag; });
  }
  stage.arguments.insert(stage.arguments.end(), further.begin(), further.end());
}

std::vector<LoopStage> PlanLoop(const SelfTrainOptions& o) {
  std::vector<LoopStage> stages;
  const auto evaluate = [&](const IterationPlan& plan) {
    for (const std::string& task : o.tasks) {
      stages.push_back(plan.Evaluate(task));
      if (o.attempts > 0) stages.push_back(plan.EvaluateBySampling(task));
      if (o.eval_slip > 0) stages.push_back(plan.EvaluateWithSlips(task));
    }
  };
  std::vector<std::string> types = {kGoodRows};
  if (o.method == "agent-r" || o.method == "direct-revision") {
    types.insert(types.begin(), kRevisedRows);
  }
  evaluate(IterationPlan(o, 0));
  for (int i = 1; i <= o.iterations; ++i) {
    const IterationPlan plan(o, i);
    for (const std::string& task : o.tasks) {
      stages.push_back(plan.Collect(task));
      for (const std::string& type : types) stages.push_back(plan.Revise(task, type));
    }
    if (o.method == "search-only") continue;
    stages.push_back(plan.Train(types));
    if (o.prefer_steps > 0) stages.push_back(plan.Prefer());
    evaluate(plan);
  }
  return stages;
}

}  // namespace agentr
