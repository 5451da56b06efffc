// Which tasks an evaluation plays.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace agentr {

class OptionSet;

struct TaskSelection {
  std::string split = "test";  // test | train | all | a file of ids
  // Places among the tasks of the split, max exclusive: 0 to 19 are its first twenty.
  int min = 0;
  int max = std::numeric_limits<int>::max();

  bool operator==(const TaskSelection&) const = default;
};

void Declare(OptionSet& set, TaskSelection& selection);

// The ids of `selection`, each once: of a split in rising order, of a file in its order. `tasks` is
// how many the server has, 0 if unknown; ids from there on would name the first tasks again, and
// are left out with a warning. Throws FatalError: kFile for a file that cannot be read, kUsage for
// one that holds anything but ids (one per line, or a JSON array), where nothing is selected, and
// where the number of ids is known to nobody (--split all or train on a public server, no --max).
std::vector<int> SelectTasks(const TaskSelection& selection, const std::string& family,
                             int64_t tasks);

}  // namespace agentr
