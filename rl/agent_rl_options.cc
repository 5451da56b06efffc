#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "common/options.h"
#include "common/run_file.h"
#include "rl/agent_rl.h"
#include "rl/worlds/prompt_changes.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

constexpr double kMostFactor = 1e6;  // of a part of a loss; more would drown all others

void Declare(OptionSet& set, ExperienceOptions& o) {
  set.Group("Experience");
  set.Add("--steps", o.steps, "Steps of every environment in an iteration").Min(1);
  set.Add("--player", o.player,
          "Who plays with play, and the episodes that bc, filtered_bc and offline_archer learn "
          "from: the policy "
          "itself, in every iteration (not offline_archer); any legal action (random) or a script "
          "(expert), in the first iteration only")
      .OneOf({"policy", "random", "expert"});
  set.Add("--noise", o.noise, "Share of the expert's actions that are random ones instead")
      .Range(0, 1);
  set.Add("--transitions", o.transitions,
          "Learn from the transitions of an earlier run (its folder's \"transitions\") instead of "
          "playing");
  set.Add("--updates", o.updates, "Optimiser steps of the policy in an iteration").Min(1);
  set.Add("--batch", o.batch, "Transitions of an optimiser step").Min(1);
  set.Add("--warmup_iterations", o.warmup, "Iterations before the policy learns").Min(0);
  set.Add("--gamma", o.gamma, "Discount of later rewards").Range(0, 1);
  set.Add("--keep_share", o.keep, "Share of the episodes that filtered_bc trains on").Range(0, 1);
  set.Add("--max_new_tokens", o.max_new_tokens, "Largest number of tokens of a written action")
      .Min(1);
}

void Declare(OptionSet& set, PpoRunOptions& o) {
  set.Group("PPO");
  set.Add("--ppo_epochs", o.epochs, "Passes over the transitions of an iteration").Min(1);
  set.Add("--recurrence", o.recurrence,
          "Steps of an environment through which symbolic_ppo propagates back in one piece")
      .Min(1);
  set.Add("--gae_lambda", o.lambda, "Decay of generalised advantage estimation").Range(0, 1);
  set.Add(
      "--normalize_advantages", o.normalize_advantages,
      "Shift and scale the advantages of each minibatch to mean 0 and standard deviation 1, which "
      "GLAM does not");
  set.Add("--value_width", o.value_width, "Width of the value head's inner layers").Min(1);
  set.AddNamed("--value_activation", o.value_activation, kActivations,
               "Between the layers of the value head");
  set.Add("--clip", o.loss.clip, "Largest change of a probability's ratio").Min(0);
  set.Add("--value_clip", o.loss.value_clip, "Largest change of a value; 0: no limit").Min(0);
  set.Add("--entropy_coefficient", o.loss.entropy_coefficient, "Factor of the entropy's bonus")
      .Range(-kMostFactor, kMostFactor);
  set.Add("--value_coefficient", o.loss.value_coefficient, "Factor of the value's loss")
      .Range(0, kMostFactor);
}

void Declare(OptionSet& set, CriticOptions& o) {
  set.Group("ArCHer");
  set.Add("--critic_lr", o.learning_rate, "Learning rate of the critic")
      .Range(0, kMostLearningRate);
  set.Add("--critic_updates", o.updates, "Optimiser steps of the critic in an iteration").Min(1);
  set.Add("--critic_width", o.width, "Width of the critic's inner layers").Min(1);
  set.Add("--tau", o.tau, "Share of the critic that its target copy takes over in each step")
      .Range(0, 1);
  set.Add("--expectile", o.expectile, "Expectile of V in offline_archer; 0.5: the mean")
      .Range(0, 1);
}

void Declare(OptionSet& set, ArcherOptions& o) {
  set.Add("--replay_capacity", o.capacity, "Number of last transitions that are learned from")
      .Min(1);
  set.Add("--critic_gate", o.gate,
          "The policy learns once the critic's mean advantage of the expert's actions is this much "
          "above that of random legal ones, and --warmup_iterations are over");
  set.Add("--token_baseline", o.token_baseline,
          "ArCHer's variant: subtract a value that a head of the policy learns for each token from "
          "the advantage");
  set.Add("--chai_samples", o.samples, "Samples of which CHAI plays the best").Min(1);
  set.Add("--inverse_temperature", o.inverse_temperature,
          "Factor of the advantage in offline_archer's weights exp(factor * advantage)")
      .Range(-kMostFactor, kMostFactor);
  set.Add("--weight_limit", o.weight_limit,
          "Largest of these weights; 0: no limit, as in the original")
      .Min(0);
}

// From trees or recorded episodes, which say themselves of which task they are.
bool LearnsFromTrees(const AgentRlOptions& o) {
  if (o.algorithm == &MakeGrpo) return !PlaysTasks(o);
  return o.algorithm == &MakeDpo || o.algorithm == &MakeAwr || o.algorithm == &MakeTreeGrpo;
}

// The world or kind of task that --task names.
void SetTask(AgentRlOptions& o) {
  if (PlaysTasks(o)) {
    o.tasks.task = TaskKindOf(o.task).name;
    return;
  }
  const auto world = ValueOf(kWorldNames, o.task);
  if (!world) {
    std::vector<std::string_view> names;
    for (const auto& [name, kind] : kWorldNames) names.push_back(name);
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--task {}: --algorithm {} knows the worlds {}; other kinds of "
                                 "tasks are played by --algorithm grpo without --episodes",
                                 o.task, NameOf(kAlgorithms, o.algorithm), fmt::join(names, ", ")));
  }
  o.world.task = *world;
}

}  // namespace

bool PlaysTasks(const AgentRlOptions& o) {
  return o.algorithm == &MakeGrpo && o.trees.data.episodes.empty();
}

void Declare(OptionSet& set, AgentRlOptions& o) {
  set.Group("Learning");
  set.AddNamed("--algorithm", o.algorithm, kAlgorithms, "How to learn");
  set.Add("--iterations", o.iterations,
          "Iterations of playing and learning; with --lr_schedule constant --warmup 0 a larger "
          "number prolongs a finished run")
      .Min(1);
  set.Add("--seed", o.seed, "Seed of everything that is drawn");
  set.Group("Model");
  Declare(set, o.start);
  set.Add("--model_threads", o.threads, "Threads on the CPU; 0: all cores that the process may use")
      .Min(0)
      .OnlySpeed();
  set.Add("--dtype", o.dtype,
          "Type for computing: float32 or, of dpo and awr, bfloat16, which is faster on processors "
          "that multiply it; weights and their moments are float32 in any case")
      .OneOf({"float32", "bfloat16"});
  set.Group("Run");
  set.Add("--output_dir", o.output_dir, "Results are written to OUTPUT_DIR/NAME").OnlyOutput();
  set.Add("--name", o.name, "Name of the run (default: the algorithm and what it plays)")
      .OnlyOutput();
  set.Add("--save_every", o.save_every, "Iterations between checkpoints").Min(1).OnlyOutput();
  set.Add("--keep", o.keep_checkpoints, "Number of last checkpoints to keep").Min(1).OnlyOutput();
  set.Add("--eval_every", o.eval_every, "Iterations between evaluations; 0: only at the end")
      .Min(0)
      .OnlyOutput();
  set.Add("--eval_episodes", o.eval_episodes, "Episodes of an evaluation; 0: none")
      .Min(0)
      .OnlyOutput();
  set.Add("--eval_greedy", o.eval_greedy,
          "Evaluate with the most probable actions instead of drawn ones");
  set.Add("--eval_prompts", o.eval_prompts,
          "Words that are replaced in the prompts of evaluations: GLAM's tests of generalisation")
      .OneOf(PromptChangeNames())
      .OnlyOutput();
  set.Group("Environments");
  set.Add("--task", o.task,
          "What is played: a world, that is babyai (BabyAI-Text with its six listed actions), "
          "twenty_questions, guess_my_city, webshop (as ArCHer shows it), echo or echo_listed (a "
          "toy game with free or listed answers); with grpo the kind of task of this name as "
          "agent_eval plays it, such as textcraft, webshop or babyai");
  set.AfterParsing([&o] { SetTask(o); });
  Declare(set, o.world);
  Declare(set, o.tasks);
  Declare(set, o.experience);
  Declare(set, o.ppo);
  Declare(set, o.critic);
  Declare(set, o.archer);
  Declare(set, o.trees);
  Declare(set, o.lora);
  Declare(set, o.schedule);
  Declare(set, o.adamw);
  Declare(set, o.distributed);
}

void Check(const AgentRlOptions& o) {
  Check(o.adamw, o.schedule.learning_rate);
  Check(o.adamw, o.critic.learning_rate, "--critic_lr");
  if (o.algorithm == &MakeSymbolicPpo) {
    if (o.distributed.processes > 1) {
      throw FatalError(ExitCode::kUsage,
                       "--algorithm symbolic_ppo runs in one process, because the norms of its "
                       "network look at all agents together: leave out --processes");
    }
    if (o.start.dir.empty() && o.eval_prompts == "none") return;
    throw FatalError(ExitCode::kUsage,
                     "--algorithm symbolic_ppo reads images, not prompts, and learns a network of "
                     "its own: leave out --model_dir and --eval_prompts");
  }
  // A scripted player needs no model.
  if (o.algorithm == &MakePlay && o.experience.player != "policy" && o.start.dir.empty()) return;
  if (o.start.dir.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "there is no model to train: name its Hugging Face folder with --model_dir");
  }
  if (o.algorithm == &MakeOfflineArcher && o.experience.transitions.empty() &&
      o.experience.player == "policy") {
    throw FatalError(ExitCode::kUsage,
                     "--algorithm offline_archer learns from fixed episodes: name who plays them, "
                     "--player random or expert, or recorded ones, --transitions");
  }
  if (o.dtype != "float32" && o.algorithm != &MakeDpo && o.algorithm != &MakeAwr) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--dtype {}: --algorithm {} compares its probabilities with those "
                                 "of the player, which must agree to 1e-4. Cure: leave it out",
                                 o.dtype, NameOf(kAlgorithms, o.algorithm)));
  }
  if (PlaysTasks(o) && o.distributed.processes > 1) {
    throw FatalError(ExitCode::kUsage,
                     "--algorithm grpo plays in one process: leave out --processes, and give it "
                     "the cores with --model_threads");
  }
  if (PlaysTasks(o) && o.experience.max_new_tokens >= o.trees.data.max_length) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--max_length {} leaves no room for a prompt beside "
                                 "--max_new_tokens {}",
                                 o.trees.data.max_length, o.experience.max_new_tokens));
  }
  if (o.lora.rank > 0 && o.lora.dropout > 0) {
    throw FatalError(
        ExitCode::kUsage,
        "--lora_dropout: in agent_rl what is scored must be what was sampled, so there "
        "is no dropout; leave the option out");
  }
}

std::filesystem::path RlFolder(const AgentRlOptions& o) {
  std::string name(NameOf(kAlgorithms, o.algorithm));
  if (!LearnsFromTrees(o)) {
    name += fmt::format(
        "-{}", PlaysTasks(o) ? std::string_view(o.tasks.task) : NameOf(kWorldNames, o.world.task));
  }
  return std::filesystem::path(o.output_dir) / FolderName(o.name.empty() ? name : o.name);
}

}  // namespace agentr
