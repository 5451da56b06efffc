// The job of agent_rl: a language model learns from reward.
//
//   OUTPUT_DIR/NAME/checkpoints/step-…   from which a killed run continues to the same bytes
//                   transitions.bin      all that was played (transition_store.h)
//                   metrics.jsonl        a line per iteration, and per evaluation
//                   events.out.tfevents… the same for TensorBoard
//                   resolved.toml, run.json
//                   model/               the result: a Hugging Face folder (not of symbolic_ppo,
//                                        whose result is its last checkpoint)
//                   adapter/             with --lora_rank also as PEFT's adapter
//                   good_model/          of grpo that plays: the policy before the first sign of a
//                                        collapse (collapse.h)
//                   ranks/N/             while it runs in several processes: the transitions of the
//                                        others, copies of the above
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/error.h"
#include "rl/algorithm.h"
#include "rl/algorithms/critic_options.h"
#include "rl/losses/policy_loss.h"
#include "rl/networks/mlp.h"
#include "rl/policies/task_play_options.h"
#include "rl/trees/tree_learning.h"
#include "rl/worlds/world.h"
#include "training/distributed/distributed_options.h"
#include "training/model/lora.h"
#include "training/optim/adamw.h"
#include "training/optim/schedule.h"
#include "training/start_model.h"

namespace agentr {

class OptionSet;
class Workbench;

// How experience becomes batches.
struct ExperienceOptions {
  int steps = 40;                 // steps of every environment in an iteration
  std::string player = "policy";  // policy | random | expert
  double noise = 0;               // share of the expert's actions that are random instead
  std::string transitions;        // a store of an earlier run to learn from, without playing
  int updates = 10;               // optimiser steps of the policy per iteration
  int batch = 128;                // transitions of an optimiser step
  int warmup = 0;                 // iterations before the policy learns
  double gamma = 0.99;            // discount of later rewards (all but cloning)
  double keep = 0.1;              // share of the episodes that filtered cloning keeps
  int max_new_tokens = 32;        // of an action
};

// As in GLAM's released configuration.
struct PpoRunOptions {
  int epochs = 4;                                      // over the transitions of an iteration
  int recurrence = 20;                                 // steps of a piece (symbolic_ppo)
  double lambda = 0.99;                                // of generalised advantage estimation
  bool normalize_advantages = false;                   // in each minibatch
  int value_width = 1024;                              // of the value head's two inner layers
  Activation value_activation = Activation::kSigmoid;  // between them
  PpoOptions loss;
};

struct ArcherOptions {
  int capacity = 100000;           // last transitions to learn from
  double gate = -1e9;              // least gap of the critic before the policy learns
  bool token_baseline = false;     // REINFORCE with a learned baseline for each token
  int samples = 5;                 // of CHAI
  double inverse_temperature = 1;  // of advantage weights
  double weight_limit = 0;         // largest advantage weight; 0: none
};

struct AgentRlOptions {
  MakeAlgorithm algorithm = &MakeCloning;
  StartModel start;
  std::string output_dir = "rl_result";
  std::string name;  // empty: the algorithm and what it plays
  uint64_t seed = 0;
  int threads = 0;
  std::string dtype = "float32";  // float32 | bfloat16 (dpo, awr), for computing
  int iterations = 100;
  int save_every = 10;
  int keep_checkpoints = 2;
  int eval_every = 10;      // iterations; 0: only at the end
  int eval_episodes = 128;  // 0: none
  bool eval_greedy = false;
  std::string eval_prompts = "none";  // prompt_changes.h
  std::string task = "babyai";        // a world or, of grpo that plays, a kind of task
  WorldOptions world;
  TaskPlayOptions tasks;
  ExperienceOptions experience;
  PpoRunOptions ppo;
  CriticOptions critic;
  ArcherOptions archer;
  TreeLearningOptions trees;
  LoraOptions lora;  // of the policy; critics learn all their weights
  AdamWOptions adamw;
  ScheduleOptions schedule;
  DistributedOptions distributed;  // without `zero`
};

void Declare(OptionSet& set, AgentRlOptions& options);
// Throws FatalError(kUsage) for values that do not fit together.
void Check(const AgentRlOptions& options);

// True for grpo without recorded episodes: it plays the kind of task `task` itself, as agent_eval
// does. All other algorithms that play have worlds.
bool PlaysTasks(const AgentRlOptions& options);

// OUTPUT_DIR/NAME.
std::filesystem::path RlFolder(const AgentRlOptions& options);

// Learns, continuing from the last checkpoint if there is one, and exports the policy. Throws
// FatalError. `workbench`: for the environments of tasks; null: PlaysTasks is false.
ExitCode AgentRl(const AgentRlOptions& options, const OptionSet& resolved,
                 Workbench* workbench = nullptr);

}  // namespace agentr
