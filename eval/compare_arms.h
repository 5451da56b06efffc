// Compares the arms of an experiment: ways to train, each with several trainings (seeds), all of
// which played the same tasks.
//
// Two trainings of one arm differ by chance, as two tasks do, so that an interval over the tasks of
// one training says too little. The intervals here are of a bootstrap over both: each resample
// draws the tasks, the same ones for all arms, and within each arm its trainings, with replacement.
// The success rate of an arm that never succeeded, or always did, has an interval all the same
// (WidenedRate). The differences are against the first arm. Source: Davison, Hinkley, Bootstrap
// Methods and their Application (1997), section 3.8.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "eval/bootstrap.h"
#include "rollout/episode.h"

namespace agentr {

struct Arm {
  std::string name;
  std::vector<std::vector<Episode>> runs;  // the episodes of each training
};

struct ArmResult {
  std::string name;
  size_t runs = 0;
  Estimate reward, success;                        // means over tasks and trainings
  Estimate reward_difference, success_difference;  // this arm less the first one
};

struct ArmsComparison {
  size_t tasks = 0;  // with a result in every training; others are left out
  size_t left_out = 0;
  size_t never = 0;   // of the tasks, those that no training ever solves
  size_t always = 0;  // and those that all of them always solve: both say nothing about the arms
  std::vector<ArmResult> arms;
};

// `success_threshold`: a reward of at least this is a success. Throws FatalError(kUsage) if an arm
// has no training, or no task has a result in all of them.
ArmsComparison CompareArms(std::span<const Arm> arms, double success_threshold,
                           const BootstrapOptions& options);

// A table for people.
std::string ArmsTable(const ArmsComparison& comparison);

nlohmann::ordered_json ArmsJson(const ArmsComparison& comparison);

}  // namespace agentr
