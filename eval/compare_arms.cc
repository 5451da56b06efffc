#include "eval/compare_arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/random.h"
#include "eval/summary.h"
#include "eval/task_episodes.h"

namespace agentr {
namespace {

// One measure of all trainings of an arm: values[training][task], over the compared tasks.
using ArmRuns = std::vector<std::vector<double>>;

// The compared tasks and, for each arm, both measures.
struct ArmValues {
  std::vector<ArmRuns> reward, success;
  size_t tasks = 0;
  size_t left_out = 0;
};

ArmValues ValuesOf(std::span<const Arm> arms, double threshold) {
  std::vector<std::vector<TaskEpisodes>> runs;  // of all arms, one after the other
  for (const Arm& arm : arms) {
    if (arm.runs.empty()) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("the arm {} names no folder of results", arm.name));
    }
    for (const std::vector<Episode>& run : arm.runs) runs.push_back(GroupByTask(run));
  }
  std::map<int, size_t> results;  // by task: the trainings that have one
  for (const std::vector<TaskEpisodes>& run : runs) {
    for (const TaskEpisodes& task : run) results[task.task_id] += task.with_result.empty() ? 0 : 1;
  }
  ArmValues values;
  for (const auto& [task, count] : results) {
    ++(count == runs.size() ? values.tasks : values.left_out);
  }
  if (values.tasks == 0) {
    throw FatalError(ExitCode::kUsage, "no task has a result in all of the folders");
  }
  size_t next = 0;
  for (const Arm& arm : arms) {
    ArmRuns& reward = values.reward.emplace_back();
    ArmRuns& success = values.success.emplace_back();
    for (size_t i = 0; i < arm.runs.size(); ++i, ++next) {
      std::vector<double>& rewards = reward.emplace_back();
      std::vector<double>& successes = success.emplace_back();
      for (const TaskEpisodes& task : runs[next]) {
        if (results[task.task_id] != runs.size()) continue;
        rewards.push_back(MeanReward(task));
        successes.push_back(SuccessShare(task, threshold));
      }
    }
  }
  return values;
}

// The mean of one arm over the drawn tasks and its drawn trainings.
double MeanOfDraw(const ArmRuns& measure, std::span<const size_t> trainings,
                  std::span<const size_t> tasks) {
  double sum = 0;
  for (const size_t training : trainings) {
    for (const size_t task : tasks) sum += measure[training][task];
  }
  return sum / static_cast<double>(trainings.size() * tasks.size());
}

std::vector<size_t> Draw(size_t count, RandomStream& random) {
  std::vector<size_t> drawn(count);
  for (size_t& one : drawn) one = random.Below(count);
  return drawn;
}

std::vector<size_t> AllOf(size_t count) {
  std::vector<size_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

Estimate IntervalOf(double mean, std::vector<double> drawn, size_t tasks) {
  std::ranges::sort(drawn);
  return {mean, SortedQuantile(drawn, 0.025), SortedQuantile(drawn, 0.975), tasks};
}

struct ArmEstimates {
  std::vector<Estimate> mean, difference;  // of each arm
};

ArmEstimates EstimateArms(const std::vector<ArmRuns>& arms, size_t task_count,
                          const BootstrapOptions& options) {
  const auto resamples = static_cast<size_t>(std::max(options.resamples, 1));
  std::vector<std::vector<double>> means(arms.size(), std::vector<double>(resamples));
  RandomStream random = RandomStream(options.seed).Split("bootstrap of arms");
  for (size_t draw = 0; draw < resamples; ++draw) {
    const std::vector<size_t> tasks = Draw(task_count, random);
    for (size_t arm = 0; arm < arms.size(); ++arm) {
      means[arm][draw] = MeanOfDraw(arms[arm], Draw(arms[arm].size(), random), tasks);
    }
  }
  ArmEstimates estimates;
  const std::vector<size_t> all = AllOf(task_count);
  const double first = MeanOfDraw(arms[0], AllOf(arms[0].size()), all);
  for (size_t arm = 0; arm < arms.size(); ++arm) {
    const double mean = MeanOfDraw(arms[arm], AllOf(arms[arm].size()), all);
    std::vector<double> differences(resamples);
    for (size_t i = 0; i < resamples; ++i) differences[i] = means[arm][i] - means[0][i];
    estimates.mean.push_back(IntervalOf(mean, means[arm], task_count));
    estimates.difference.push_back(
        arm == 0 ? Estimate{0, 0, 0, task_count}
                 : IntervalOf(mean - first, std::move(differences), task_count));
  }
  return estimates;
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

ArmsComparison CompareArms(std::span<const Arm> arms, double success_threshold,
                           const BootstrapOptions& options) {
  const ArmValues values = ValuesOf(arms, success_threshold);
  ArmsComparison comparison;
  comparison.tasks = values.tasks;
  comparison.left_out = values.left_out;
  for (size_t task = 0; task < values.tasks; ++task) {
    bool never = true, always = true;
    for (const ArmRuns& arm : values.success) {
      for (const std::vector<double>& training : arm) {
        never = never && training[task] == 0;
        always = always && training[task] == 1;
      }
    }
    comparison.never += never ? 1 : 0;
    comparison.always += always ? 1 : 0;
  }
  const ArmEstimates reward = EstimateArms(values.reward, values.tasks, options);
  const ArmEstimates success = EstimateArms(values.success, values.tasks, options);
  for (size_t arm = 0; arm < arms.size(); ++arm) {
    comparison.arms.push_back({arms[arm].name, arms[arm].runs.size(), reward.mean[arm],
                               WidenedRate(success.mean[arm]), reward.difference[arm],
                               success.difference[arm]});
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
  table += fmt::format("{:<{}}{:<11}{:<26}{:<24}{:<26}{}\n", "arm", width, "trainings", "success",
                       "against the first", "mean reward", "against the first");
  for (const ArmResult& arm : comparison.arms) {
    const bool first = &arm == &comparison.arms.front();
    table += fmt::format("{:<{}}{:<11}{:<26}{:<24}{:<26}{}\n", arm.name, width, arm.runs,
                         Text(arm.success, true), first ? "" : PointsText(arm.success_difference),
                         Text(arm.reward), first ? "" : DifferenceText(arm.reward_difference));
  }
  return table;
}

nlohmann::ordered_json ArmsJson(const ArmsComparison& comparison) {
  nlohmann::ordered_json json = {{"tasks", comparison.tasks},
                                 {"left_out", comparison.left_out},
                                 {"never_solved", comparison.never},
                                 {"always_solved", comparison.always}};
  json["arms"] = nlohmann::ordered_json::array();
  for (const ArmResult& arm : comparison.arms) {
    json["arms"].push_back({{"name", arm.name},
                            {"trainings", arm.runs},
                            {"success", ToJson(arm.success)},
                            {"reward", ToJson(arm.reward)},
                            {"success_difference", ToJson(arm.success_difference)},
                            {"reward_difference", ToJson(arm.reward_difference)}});
  }
  return json;
}

}  // namespace agentr
