#include "eval/compare_arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/error.h"
#include "common/random.h"
#include "eval/summary.h"
#include "eval/task_episodes.h"

namespace agentr {
namespace {

// One measure of an arm: values[repetition][training][task], over the compared tasks.
using ArmMeasure = std::vector<std::vector<std::vector<double>>>;

// The compared tasks and, for each arm, both measures.
struct ArmValues {
  std::vector<ArmMeasure> reward, success;
  std::set<int> tasks;  // those with a result in every training
  size_t left_out = 0;
};

void CheckArms(std::span<const Arm> arms) {
  for (const Arm& arm : arms) {
    if (arm.repetitions.size() != arms.front().repetitions.size()) {
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("the arm {} has {} repetitions and {} has {}: each repetition of the "
                      "experiment needs all arms",
                      arm.name, arm.repetitions.size(), arms.front().name,
                      arms.front().repetitions.size()));
    }
    const auto is_empty = [](const auto& trainings) { return trainings.empty(); };
    if (arm.repetitions.empty() || std::ranges::any_of(arm.repetitions, is_empty)) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("the arm {} names no folder of results", arm.name));
    }
  }
}

ArmValues ValuesOf(std::span<const Arm> arms, double threshold) {
  CheckArms(arms);
  std::vector<std::vector<TaskEpisodes>> played;  // of all trainings, one after the other
  for (const Arm& arm : arms) {
    for (const std::vector<TrainingEpisodes>& trainings : arm.repetitions) {
      for (const TrainingEpisodes& one : trainings) played.push_back(GroupByTask(one));
    }
  }
  std::map<int, size_t> results;  // by task: the trainings that have one
  for (const std::vector<TaskEpisodes>& tasks : played) {
    for (const TaskEpisodes& task : tasks) {
      results[task.task_id] += task.with_result.empty() ? 0 : 1;
    }
  }
  ArmValues values;
  for (const auto& [task, count] : results) {
    if (count == played.size()) {
      values.tasks.insert(task);
    } else {
      ++values.left_out;
    }
  }
  if (values.tasks.empty()) {
    throw FatalError(ExitCode::kUsage, "no task has a result in all of the folders");
  }
  size_t next = 0;
  for (const Arm& arm : arms) {
    ArmMeasure& reward = values.reward.emplace_back();
    ArmMeasure& success = values.success.emplace_back();
    for (const std::vector<TrainingEpisodes>& trainings : arm.repetitions) {
      reward.emplace_back();
      success.emplace_back();
      for (size_t i = 0; i < trainings.size(); ++i, ++next) {
        std::vector<double>& rewards = reward.back().emplace_back();
        std::vector<double>& successes = success.back().emplace_back();
        for (const TaskEpisodes& task : played[next]) {
          if (!values.tasks.contains(task.task_id)) continue;
          rewards.push_back(MeanReward(task));
          successes.push_back(SuccessShare(task, threshold));
        }
      }
    }
  }
  return values;
}

std::vector<size_t> AllOf(size_t count) {
  std::vector<size_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

std::vector<size_t> Draw(size_t count, RandomStream& random) {
  std::vector<size_t> drawn(count);
  for (size_t& one : drawn) one = random.Below(count);
  return drawn;
}

// The mean of one arm over the given repetitions and tasks, and in each of the repetitions over the
// trainings that `trainings_of(how many it has)` chooses.
template <typename TrainingsOf>
double MeanOver(const ArmMeasure& measure, std::span<const size_t> repetitions,
                std::span<const size_t> tasks, TrainingsOf trainings_of) {
  double mean = 0;
  for (const size_t repetition : repetitions) {
    const std::vector<std::vector<double>>& of = measure[repetition];
    const std::vector<size_t> trainings = trainings_of(of.size());
    double sum = 0;
    for (const size_t training : trainings) {
      for (const size_t task : tasks) sum += of[training][task];
    }
    mean += sum / static_cast<double>(trainings.size() * tasks.size() * repetitions.size());
  }
  return mean;
}

struct ArmEstimates {
  std::vector<Estimate> mean, difference;  // of each arm
};

ArmEstimates EstimateArms(const std::vector<ArmMeasure>& arms, size_t task_count,
                          const BootstrapOptions& options) {
  const auto resamples = static_cast<size_t>(std::max(options.resamples, 1));
  const size_t repetition_count = arms[0].size();
  std::vector<std::vector<double>> means(arms.size(), std::vector<double>(resamples));
  RandomStream random = RandomStream(options.seed).Split("bootstrap of arms");
  for (size_t draw = 0; draw < resamples; ++draw) {
    const std::vector<size_t> tasks = Draw(task_count, random);
    const std::vector<size_t> repetitions =
        repetition_count == 1 ? AllOf(1) : Draw(repetition_count, random);
    for (size_t arm = 0; arm < arms.size(); ++arm) {
      means[arm][draw] = MeanOver(arms[arm], repetitions, tasks,
                                  [&](size_t trainings) { return Draw(trainings, random); });
    }
  }
  ArmEstimates estimates;
  const auto mean_of = [&](const ArmMeasure& arm) {
    return MeanOver(arm, AllOf(repetition_count), AllOf(task_count), AllOf);
  };
  for (size_t arm = 0; arm < arms.size(); ++arm) {
    const double mean = mean_of(arms[arm]);
    std::vector<double> differences(resamples);
    for (size_t i = 0; i < resamples; ++i) differences[i] = means[arm][i] - means[0][i];
    estimates.mean.push_back(IntervalOf(mean, means[arm], task_count));
    estimates.difference.push_back(
        arm == 0 ? Estimate{0, 0, 0, task_count}
                 : IntervalOf(mean - mean_of(arms[0]), std::move(differences), task_count));
  }
  return estimates;
}

SlipColumn BehaviourOf(const Arm& arm, const std::set<int>& tasks, SlipMetricOptions options) {
  if (!arm.revision_action.empty()) options.revisions.action = arm.revision_action;
  SlipColumn sums;
  for (const std::vector<TrainingEpisodes>& trainings : arm.repetitions) {
    for (const TrainingEpisodes& one : trainings) {
      for (const Episode& episode : one) {
        if (!tasks.contains(episode.task_id) || !HasResult(episode.end)) continue;
        sums.metrics += MeasureSlips({&episode, 1}, options);
        ++sums.episodes;
      }
    }
  }
  return sums;
}

std::string PointsText(const Estimate& difference) {
  return fmt::format("{:+.1f} [{:+.1f}, {:+.1f}]", 100 * difference.mean, 100 * difference.low,
                     100 * difference.high);
}

std::string DifferenceText(const Estimate& difference) {
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", difference.mean, difference.low,
                     difference.high);
}

}  // namespace

ArmsComparison CompareArms(std::span<const Arm> arms, const SlipMetricOptions& options) {
  const ArmValues values = ValuesOf(arms, options.success_threshold);
  const size_t tasks = values.tasks.size();
  ArmsComparison comparison;
  comparison.tasks = tasks;
  comparison.revision_window = options.window;
  comparison.left_out = values.left_out;
  comparison.repetitions = arms.front().repetitions.size();
  for (size_t task = 0; task < tasks; ++task) {
    bool never = true, always = true;
    for (const ArmMeasure& arm : values.success) {
      for (const auto& trainings : arm) {
        for (const std::vector<double>& training : trainings) {
          never = never && training[task] == 0;
          always = always && training[task] == 1;
        }
      }
    }
    comparison.never += never ? 1 : 0;
    comparison.always += always ? 1 : 0;
  }
  const ArmEstimates reward = EstimateArms(values.reward, tasks, options.bootstrap);
  const ArmEstimates success = EstimateArms(values.success, tasks, options.bootstrap);
  for (size_t arm = 0; arm < arms.size(); ++arm) {
    size_t trainings = 0;
    for (const auto& repetition : arms[arm].repetitions) trainings += repetition.size();
    comparison.arms.push_back({arms[arm].name, trainings, reward.mean[arm],
                               WidenedRate(success.mean[arm]), reward.difference[arm],
                               success.difference[arm],
                               BehaviourOf(arms[arm], values.tasks, options)});
  }
  return comparison;
}

std::string ArmsTable(const ArmsComparison& comparison) {
  size_t width = 4;
  for (const ArmResult& arm : comparison.arms) width = std::max(width, arm.name.size() + 2);
  std::string table = fmt::format(
      "{} tasks; {} of them solved by no training and {} by all; {} left out, without a result in "
      "every training\n",
      comparison.tasks, comparison.never, comparison.always, comparison.left_out);
  if (comparison.repetitions > 1) {
    table += fmt::format("{} repetitions of the experiment\n", comparison.repetitions);
  }
  table += fmt::format("{:<{}}{:<11}{:<26}{:<24}{:<26}{}\n", "arm", width, "trainings", "success",
                       "against the first", "mean reward", "against the first");
  for (const ArmResult& arm : comparison.arms) {
    const bool first = &arm == &comparison.arms.front();
    table += fmt::format("{:<{}}{:<11}{:<26}{:<24}{:<26}{}\n", arm.name, width, arm.trainings,
                         Text(arm.success, true), first ? "" : PointsText(arm.success_difference),
                         Text(arm.reward), first ? "" : DifferenceText(arm.reward_difference));
  }
  std::vector<SlipColumn> behaviours;
  table += fmt::format("{:<{}}", "", kSlipNameWidth);
  for (const ArmResult& arm : comparison.arms) {
    const bool last = &arm == &comparison.arms.back();
    table += fmt::format("{:<{}}", arm.name, last ? 0 : kSlipColumnWidth);
    behaviours.push_back(arm.behaviour);
  }
  return table + "\n" + SlipTable(behaviours, comparison.revision_window);
}

nlohmann::ordered_json ArmsJson(const ArmsComparison& comparison) {
  nlohmann::ordered_json json = {{"tasks", comparison.tasks},
                                 {"repetitions", comparison.repetitions},
                                 {"left_out", comparison.left_out},
                                 {"never_solved", comparison.never},
                                 {"always_solved", comparison.always}};
  json["arms"] = nlohmann::ordered_json::array();
  for (const ArmResult& arm : comparison.arms) {
    json["arms"].push_back(
        {{"name", arm.name},
         {"trainings", arm.trainings},
         {"success", ToJson(arm.success)},
         {"reward", ToJson(arm.reward)},
         {"success_difference", ToJson(arm.success_difference)},
         {"reward_difference", ToJson(arm.reward_difference)},
         {"episodes", arm.behaviour.episodes},
         {"slips", SlipJson(arm.behaviour.metrics, comparison.revision_window)}});
  }
  return json;
}

}  // namespace agentr
