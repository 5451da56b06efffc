// Compares the arms of an experiment: ways to train, each with several trainings (seeds), all of
// which played the same tasks.
//
// Two trainings of one arm differ by chance, as two tasks do, so that an interval over the tasks of
// one training says too little. So do repetitions of the whole experiment, each with a search and
// rows of its own that its arms share. The intervals here are of a bootstrap over all of them: each
// resample draws the tasks and the repetitions, the same ones for all arms, and within each arm and
// repetition its trainings, with replacement. Repetitions count alike, however many trainings they
// have. Beside success and reward stand the slips, revisions, refusals and loops of each arm
// (slip_metrics.h). The success rate of an arm that never succeeded, or always did, has an interval
// all the same (WidenedRate). The differences are against the first arm. Source: Davison, Hinkley,
// Bootstrap Methods and their Application (1997), section 3.8.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "eval/bootstrap.h"
#include "eval/slip_metrics.h"
#include "rollout/episode.h"

namespace agentr {

using TrainingEpisodes = std::vector<Episode>;  // what one training of an arm played

struct Arm {
  std::string name;
  std::vector<std::vector<TrainingEpisodes>> repetitions;  // of each, the arm's trainings
  std::string revision_action = "";  // of its model; empty: that of the options
};

struct ArmResult {
  std::string name;
  size_t trainings = 0;                            // of all repetitions
  Estimate reward, success;                        // means over tasks and trainings
  Estimate reward_difference, success_difference;  // this arm less the first one
  SlipColumn behaviour;                            // of all trainings, in the compared tasks
};

struct ArmsComparison {
  size_t tasks = 0;  // with a result in every training; others are left out
  size_t left_out = 0;
  size_t never = 0;   // of the tasks, those that no training ever solves
  size_t always = 0;  // and those that all of them always solve: both say nothing about the arms
  size_t repetitions = 0;
  int revision_window = 0;  // SlipMetricOptions::window
  std::vector<ArmResult> arms;
};

// Throws FatalError(kUsage) if the arms
// differ in the number of their repetitions, one has no training, or no task has a result in all of
// them.
ArmsComparison CompareArms(std::span<const Arm> arms, const SlipMetricOptions& options);

// A table for people.
std::string ArmsTable(const ArmsComparison& comparison);

nlohmann::ordered_json ArmsJson(const ArmsComparison& comparison);

}  // namespace agentr
