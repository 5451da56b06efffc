// The public ScienceWorld simulator: one object is one environment. An interface, so that tests of
// the server need no Java (tests/servers/sciworld/fake_simulator.h).
//
// Threads: each Simulator is used by one thread at a time; a SimulatorSource, and different
// simulators, by any number.
//
// Errors: SimulatorError if the simulator itself fails, including out of memory. Its state is then
// unknown, so it must be dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

class SimulatorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Simulator {
 public:
  virtual ~Simulator() = default;

  // Loads `task` by its name ("boil"). With `gold`, GoldActions() returns a sequence that solves
  // it.
  virtual void Load(std::string_view task, int variation, bool gold) = 0;

  // A copy in the same state, from which on both go their own ways. It is never loaded again.
  virtual std::unique_ptr<Simulator> Fork() = 0;

  // The functions below refer to the loaded task.
  virtual std::string Step(std::string_view action) = 0;
  virtual double Score() = 0;  // 0 to 1; negative: finally failed
  virtual bool Completed() = 0;
  virtual int Moves() = 0;
  virtual std::string TaskDescription() = 0;
  virtual std::string Goals() = 0;  // progress, as a text of several lines
  // These three are functions of the state and do not change it.
  virtual std::vector<std::string> PossibleActions() = 0;  // templates: "open OBJ"
  virtual std::vector<std::string> PossibleObjects() = 0;
  virtual std::vector<std::string> ValidActions() = 0;
  virtual std::vector<std::string> GoldActions() = 0;
};

struct SimulatorUse {
  int64_t live = 0;        // simulators that were not forked
  int64_t most = 0;        // approximate number for which there is room
  int64_t most_forks = 0;  // the number of forks for which there is room beside `live`
  int64_t heap_bytes = 0;  // bytes in use, including uncollected garbage
};

class SimulatorSource {
 public:
  virtual ~SimulatorSource() = default;

  virtual std::unique_ptr<Simulator> New() = 0;
  // The number of variations of the task.
  virtual int Variations(std::string_view task) = 0;
  virtual SimulatorUse Use() = 0;
};

}  // namespace agentr
