#include "eval/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "eval/summary.h"
#include "eval/task_episodes.h"

namespace agentr {
namespace {

struct TwoRuns {
  const TaskEpisodes* a;
  const TaskEpisodes* b;
};

// The tasks for which both have a result; adds the others to the comparison's lists.
std::vector<TwoRuns> PairTasks(std::span<const TaskEpisodes> a, std::span<const TaskEpisodes> b,
                               Comparison& comparison) {
  std::vector<TwoRuns> pairs;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].task_id < b[j].task_id)) {
      comparison.only_a.push_back(a[i++].task_id);
    } else if (i == a.size() || b[j].task_id < a[i].task_id) {
      comparison.only_b.push_back(b[j++].task_id);
    } else {
      if (a[i].with_result.empty() || b[j].with_result.empty()) {
        comparison.without_result.push_back(a[i].task_id);
      } else {
        pairs.push_back({&a[i], &b[j]});
      }
      ++i;
      ++j;
    }
  }
  return pairs;
}

void SortByDifference(std::vector<TaskPair>& tasks) {
  std::ranges::stable_sort(tasks, std::greater{},
                           [](const TaskPair& task) { return std::abs(task.b - task.a); });
}

// One measure of both evaluations.
struct Sides {
  std::vector<double> a, b, difference;

  void Add(double of_a, double of_b) {
    a.push_back(of_a);
    b.push_back(of_b);
    difference.push_back(of_b - of_a);
  }
};

// "+0.058 [+0.020, +0.096], p 0.003".
std::string DifferenceText(const PairedDifference& difference, bool percent) {
  const Estimate& estimate = difference.estimate;
  if (estimate.tasks == 0) return "-";
  const double scale = percent ? 100 : 1;
  const int digits = percent ? 1 : 3;
  return fmt::format("{:+.{}f}{} [{:+.{}f}, {:+.{}f}], p {:.{}f}", scale * estimate.mean, digits,
                     percent ? " points" : "", scale * estimate.low, digits, scale * estimate.high,
                     digits, difference.p, difference.p < 0.001 ? 4 : 3);
}

std::string Row(std::string_view name, const std::string& a, const std::string& b,
                const std::string& difference) {
  return fmt::format("{:<14}{:<26}{:<26}{}\n", name, a, b, difference);
}

std::string Listed(const std::vector<TaskPair>& tasks, size_t longest) {
  std::string text = fmt::format("{} tasks", tasks.size());
  for (size_t i = 0; i < std::min(tasks.size(), longest); ++i) {
    text += fmt::format("{} {} ({:.3g} -> {:.3g})", i == 0 ? ":" : ",", tasks[i].task_id,
                        tasks[i].a, tasks[i].b);
  }
  if (tasks.size() > longest) text += fmt::format(" and {} more", tasks.size() - longest);
  return text;
}

nlohmann::ordered_json ToJson(const std::vector<TaskPair>& tasks) {
  auto list = nlohmann::ordered_json::array();
  for (const TaskPair& task : tasks) {
    list.push_back({{"task", task.task_id}, {"a", task.a}, {"b", task.b}});
  }
  return list;
}

nlohmann::ordered_json MeasureJson(const Estimate& a, const Estimate& b,
                                   const PairedDifference& difference) {
  return {{"a", agentr::ToJson(a)},
          {"b", agentr::ToJson(b)},
          {"difference", agentr::ToJson(difference.estimate)},
          {"p", difference.p}};
}

}  // namespace

Comparison Compare(std::span<const Episode> a, std::span<const Episode> b,
                   const CompareOptions& options) {
  const std::vector<TaskEpisodes> tasks_a = GroupByTask(a);
  const std::vector<TaskEpisodes> tasks_b = GroupByTask(b);
  Comparison comparison;
  Sides reward, success;
  for (const TwoRuns& pair : PairTasks(tasks_a, tasks_b, comparison)) {
    const TaskPair task{pair.a->task_id, MeanReward(*pair.a), MeanReward(*pair.b)};
    reward.Add(task.a, task.b);
    success.Add(SuccessShare(*pair.a, options.success_threshold),
                SuccessShare(*pair.b, options.success_threshold));
    if (std::abs(task.b - task.a) <= options.tolerance) {
      ++comparison.ties;
    } else {
      (task.b > task.a ? comparison.won : comparison.lost).push_back(task);
    }
  }
  comparison.tasks = reward.a.size();
  comparison.reward_a = BootstrapMean(reward.a, options.bootstrap);
  comparison.reward_b = BootstrapMean(reward.b, options.bootstrap);
  comparison.reward = PairedBootstrap(reward.difference, options.bootstrap);
  comparison.success_a = BootstrapRate(success.a, options.bootstrap);
  comparison.success_b = BootstrapRate(success.b, options.bootstrap);
  comparison.success = PairedBootstrap(success.difference, options.bootstrap);
  SortByDifference(comparison.won);
  SortByDifference(comparison.lost);
  return comparison;
}

std::string ComparisonTable(const Comparison& comparison, const std::string& name_a,
                            const std::string& name_b, size_t longest) {
  std::string table = fmt::format("A: {}\nB: {}\n", name_a, name_b);
  table += fmt::format("{} tasks compared; {} only in A, {} only in B, {} without a result\n",
                       comparison.tasks, comparison.only_a.size(), comparison.only_b.size(),
                       comparison.without_result.size());
  if (comparison.tasks == 0) return table;
  table += Row("", "A", "B", "B - A (paired; 95 % intervals)");
  table += Row("mean reward", Text(comparison.reward_a), Text(comparison.reward_b),
               DifferenceText(comparison.reward, false));
  table += Row("success rate", Text(comparison.success_a, true), Text(comparison.success_b, true),
               DifferenceText(comparison.success, true));
  table += fmt::format("B better: {}\nB worse:  {}\nequal:    {} tasks\n",
                       Listed(comparison.won, longest), Listed(comparison.lost, longest),
                       comparison.ties);
  return table;
}

nlohmann::ordered_json ComparisonJson(const Comparison& comparison, const std::string& name_a,
                                      const std::string& name_b) {
  return {{"a", name_a},
          {"b", name_b},
          {"tasks", comparison.tasks},
          {"only_a", comparison.only_a},
          {"only_b", comparison.only_b},
          {"without_result", comparison.without_result},
          {"reward", MeasureJson(comparison.reward_a, comparison.reward_b, comparison.reward)},
          {"success", MeasureJson(comparison.success_a, comparison.success_b, comparison.success)},
          {"won", ToJson(comparison.won)},
          {"lost", ToJson(comparison.lost)},
          {"ties", comparison.ties}};
}

}  // namespace agentr
