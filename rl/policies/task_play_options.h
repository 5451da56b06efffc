// Which kinds of tasks agent_rl plays, and how (task_player.h).
#pragma once

#include <string>

namespace agentr {

class OptionSet;

struct TaskPlayOptions {
  std::string task;             // TaskKind::name; set from --task
  std::string split = "train";  // train | a file of ids
  std::string eval_split = "test";
  int groups = 16;     // tasks whose episodes an iteration learns from
  int attempts = 8;    // episodes of each: a group
  int draws = 3;       // how often tasks are drawn in an iteration until there are so many groups
  int max_steps = 20;  // turns of an episode
  double temperature = 1;
  int max_batch = 64;  // responses that the engine writes at once
  double kv_cache_gib = 0;
};

// Declares --split, --groups, --attempts, --draws, --max_steps, --temperature, --eval_split,
// --max_batch and --kv_cache_gib.
void Declare(OptionSet& set, TaskPlayOptions& options);

}  // namespace agentr
