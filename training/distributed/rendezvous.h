// Determines the rank of this process in a training job and the meeting place of all processes, a
// port on the machine of rank 0, from the environment that launchers set.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace agentr {

struct Place {
  int rank = 0;
  int size = 1;
  int local_size = 1;              // processes on this machine, which share its cores
  std::string host = "127.0.0.1";  // host of rank 0
  int port = 0;
  bool watched = false;  // by launcher.h, which ends all processes if one fails
  int local_rank = 0;    // among the processes on this machine

  bool operator==(const Place&) const = default;
};

// The variable that launcher.h sets in addition to torchrun's.
inline constexpr const char* kWatchedVariable = "AGENTR_WATCHED";

// Returns the value of an environment variable; nullptr if it is not set.
using GetEnv = std::function<const char*(const char*)>;

// Tries in this order: torchrun's RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT (if torchrun itself uses that port, according to TORCHELASTIC_USE_AGENT_STORE, the
// next one is used); Slurm's SLURM_PROCID, SLURM_NTASKS and the first host of
// SLURM_JOB_NODELIST, at MASTER_PORT or a port made from SLURM_JOB_ID. nullopt if neither is set,
// or if Slurm runs only one task. Throws FatalError(kUsage) naming a variable that is missing or
// not a valid number.
std::optional<Place> PlaceFromEnvironment(const GetEnv& get);

// This process in messages: "process 123 on node7".
std::string ThisProcess();

// The first host of a list in Slurm's form: "node[003-010,12]-ib,other" -> "node003-ib".
std::string FirstHost(std::string_view node_list);

}  // namespace agentr
