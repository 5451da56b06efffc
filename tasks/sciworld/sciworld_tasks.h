// The types of SciWorld tasks and the ids of their tasks on the environment server, which numbers
// all variations of all types in a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

struct SciWorldTaskType {
  std::string_view id;    // "1-1", as ScienceWorld numbers them
  std::string_view name;  // "boil"
  int first = 0;          // id of its first task
  int count = 0;          // its tasks are first … first + count - 1
  // Length of the simulator's own solution, in actions: the longest among three or four tasks of
  // the type, spaced evenly from the first one (GET /gold of our server, scienceworld 1.2.3).
  int solution = 0;
};

// The types on AgentGym's server, in its order: 23 types with 4,639 tasks. It omits 5-1, 5-2, 9-1
// to 9-3, 10-1 and 10-2.
const std::vector<SciWorldTaskType>& SciWorldTaskTypes();

// The ids of all tasks of these types ("1-1"), ascending, each once. Throws FatalError(kUsage) with
// the list of known types if one is unknown.
std::vector<int> SciWorldTasksOf(std::span<const std::string> types);

}  // namespace agentr
