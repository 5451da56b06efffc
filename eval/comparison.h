// Compares two evaluations of the same tasks: whether b is better than a, and on which tasks.
//
// Only tasks for which both have an attempt with a result are compared, by their mean over the
// attempts; the other tasks are listed. Because the tasks are the same, the difference is tested
// task by task (PairedBootstrap), which detects much smaller differences than two separate
// intervals.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "eval/bootstrap.h"
#include "rollout/episode.h"

namespace agentr {

struct CompareOptions {
  double success_threshold = 1.0;
  double tolerance = 1e-9;  // mean rewards that differ by at most this are a tie
  BootstrapOptions bootstrap;
};

// Mean rewards of a task.
struct TaskPair {
  int task_id = 0;
  double a = 0;
  double b = 0;
};

struct Comparison {
  size_t tasks = 0;                 // compared
  std::vector<int> only_a, only_b;  // tasks that the other evaluation does not have, by id
  std::vector<int> without_result;  // tasks of both for which one has only errors, by id
  Estimate reward_a, reward_b;
  PairedDifference reward;          // b - a
  Estimate success_a, success_b;    // shares, in [0, 1]
  PairedDifference success;         // b - a
  std::vector<TaskPair> won, lost;  // tasks where b is better or worse, largest difference first
  size_t ties = 0;
};

Comparison Compare(std::span<const Episode> a, std::span<const Episode> b,
                   const CompareOptions& options);

// A table for people. `name_a`, `name_b`: names of the runs; `longest`: longer lists of tasks are
// shortened to this many, and the table says so.
std::string ComparisonTable(const Comparison& comparison, const std::string& name_a,
                            const std::string& name_b, size_t longest = 20);

nlohmann::ordered_json ComparisonJson(const Comparison& comparison, const std::string& name_a,
                                      const std::string& name_b);

}  // namespace agentr
