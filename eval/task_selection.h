// Selects the tasks of an evaluation.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace agentr {

class OptionSet;

struct TaskSelection {
  std::string split = "test";  // test | train | all | the path of a file with ids
  // Positions among the tasks of the split, max exclusive: min 0 and max 20 are its first twenty.
  int min = 0;
  int max = std::numeric_limits<int>::max();

  bool operator==(const TaskSelection&) const = default;
};

void Declare(OptionSet& set, TaskSelection& selection);

// The ids of `selection`, each once: those of a split in increasing order, those of a file in its
// order. `tasks` is the server's number of tasks (0 if unknown); larger ids would name the first
// tasks again and are left out with a warning. Throws FatalError: kFile for a file that cannot be
// read; kUsage for a file that contains anything but ids (one per line, or a JSON array), if
// nothing is selected, and if the number of ids is unknown (--split all or train on a public server
// without --max).
std::vector<int> SelectTasks(const TaskSelection& selection, const std::string& family,
                             int64_t tasks);

}  // namespace agentr
