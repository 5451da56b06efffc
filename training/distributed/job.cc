#include "training/distributed/job.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/machine_limits.h"
#include "training/distributed/job_group.h"
#include "training/distributed/launcher.h"
#include "training/distributed/rendezvous.h"

namespace agentr {
namespace {

bool StartedByRank() { return std::getenv("RANK") != nullptr; }

std::optional<Place> PlaceInJob(const DistributedOptions& options) {
  if (options.processes == 1) return std::nullopt;
  const auto place = PlaceFromEnvironment([](const char* name) { return std::getenv(name); });
  if (place && options.processes > 1 && place->size != options.processes) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("--processes is {}, but according to the environment this is one of {} "
                    "processes. Cure: omit --processes if torchrun or srun starts them",
                    options.processes, place->size));
  }
  return place;
}

ExitCode RunAsRank(const Place& place, const DistributedOptions& options,
                   const nlohmann::ordered_json& resolved,
                   const std::function<ExitCode(ProcessGroup*)>& body) {
  if (place.rank > 0) spdlog::set_level(std::max(spdlog::get_level(), spdlog::level::warn));
  JobFingerprint fingerprint = OptionsFingerprint(resolved);
  for (JobFingerprintEntry& entry : ProgramFingerprint()) fingerprint.push_back(std::move(entry));
  auto group = JoinJobGroup(place, fingerprint, options);
  try {
    const ExitCode code = body(group.get());
    group->Leave();
    return code;
  } catch (const std::exception& error) {
    const auto* fatal = dynamic_cast<const FatalError*>(&error);
    if (place.watched) {
      // The launcher ends the other processes. They must not see the store disappear before that.
      [[maybe_unused]] const auto* kept = group.release();
    } else {
      group->Fail(error.what(), fatal == nullptr ? ExitCode::kInternal : fatal->code());
    }
    if (fatal == nullptr) throw;
    throw FatalError(fatal->code(), fmt::format("rank {}: {}", place.rank, error.what()));
  }
}

// Slurm may bind each process to cores of its own; then they are not shared with the others.
bool HasOwnCores() {
  return std::getenv("SLURM_PROCID") != nullptr &&
         UsableCores() < static_cast<int>(std::thread::hardware_concurrency());
}

// Sets the CPU threads of a process. 0: the cores, divided by the `processes` of this machine, or
// what OMP_NUM_THREADS says.
void UseThreads(int threads, int processes) {
  if (threads > 0) {
    at::set_num_threads(threads);
  } else if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    // LibTorch's own number may be too small: on virtual machines it takes two cores for one.
    at::set_num_threads(std::max(1, UsableCores() / (HasOwnCores() ? 1 : processes)));
  }
}

}  // namespace

ExitCode RunInJob(const DistributedOptions& options, int threads,
                  const nlohmann::ordered_json& resolved,
                  const std::function<ExitCode(ProcessGroup*)>& body) {
  if (options.processes > 1 && !StartedByRank()) return RunProcesses(options.processes);
  const auto place = PlaceInJob(options);
  UseThreads(threads, place ? place->local_size : 1);
  if (!place || place->size == 1) return body(nullptr);
  return RunAsRank(*place, options, resolved, body);
}

}  // namespace agentr
