// Which process of a training job this one is, and where all of them meet: at a port of the machine
// of rank 0. Said by the environment, as those who start processes set it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace agentr {

struct Place {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;              // processes that share the cores of this one
  std::string host = "127.0.0.1";  // of rank 0
  int port = 0;
  bool watched = false;  // by a launcher.h, which ends all processes when one fails

  bool operator==(const Place&) const = default;
};

// What a launcher.h sets besides torchrun's variables.
inline constexpr const char* kWatchedVariable = "AGENTR_WATCHED";

// The value of an environment variable; nullptr: not set.
using GetEnv = std::function<const char*(const char*)>;

// In this order: torchrun's RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT (where torchrun itself holds that port, as TORCHELASTIC_USE_AGENT_STORE says, the next
// one is taken); Slurm's SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID and the
// first host of SLURM_JOB_NODELIST, at MASTER_PORT or a port made from SLURM_JOB_ID. Nothing where
// neither is set, or Slurm runs one task. Throws FatalError(kUsage) naming the variable where one is
// missing or is no sensible number.
std::optional<Place> PlaceFromEnvironment(const GetEnv& get);

// The first host of a list as Slurm writes it: "node[003-010,12]-ib,other" -> "node003-ib".
std::string FirstHost(std::string_view node_list);

}  // namespace agentr
