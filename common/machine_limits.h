// What of the machine this process may use: the machine as a whole has more where taskset, Slurm or
// a container grants less.
#pragma once

#include <cstdint>
#include <filesystem>

namespace agentr {

// The cores of the process's affinity mask, but no more than the quota of its control group pays
// for (cgroup v2, which `docker --cpus` and limits of Kubernetes set; rounded up). At least 1.
// Threads beyond that only take turns.
int UsableCores();

// The machine's memory, but no more than the limit of the control group (`docker --memory`); bytes.
int64_t UsableMemory();

// The smallest limit of the control group that `groups` (/proc/self/cgroup) names and of those
// above it, whose files are under `mount` (/sys/fs/cgroup): in cores, or in bytes. 0 if there is
// none.
int QuotaCores(const std::filesystem::path& groups, const std::filesystem::path& mount);
int64_t QuotaMemory(const std::filesystem::path& groups, const std::filesystem::path& mount);

}  // namespace agentr
