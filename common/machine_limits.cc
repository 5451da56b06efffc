#include "common/machine_limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

namespace agentr {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGroups = "/proc/self/cgroup";
constexpr const char* kMount = "/sys/fs/cgroup";

// Those of the affinity mask; of machines with more than 1,024 cores, all.
int MaskedCores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof(mask), &mask) == 0) return CPU_COUNT(&mask);
  return static_cast<int>(std::thread::hardware_concurrency());
}

// "150000 100000": microseconds of processor time in each period. "max": no limit.
double CoresOf(const fs::path& group) {
  std::ifstream in(group / "cpu.max");
  double quota = 0, period = 0;
  return in >> quota >> period && period > 0 ? quota / period : 0;
}

// "4294967296": bytes. "max": no limit.
double BytesOf(const fs::path& group) {
  std::ifstream in(group / "memory.max");
  double bytes = 0;
  return in >> bytes ? bytes : 0;
}

// The smallest limit of the process's group and those above it; 0: none.
double SmallestLimit(const fs::path& groups, const fs::path& mount,
                     double (*limit_of)(const fs::path&)) {
  std::ifstream in(groups);
  std::string line;
  double least = 0;
  while (std::getline(in, line)) {
    if (!line.starts_with("0::/")) continue;  // version 1
    for (fs::path group = line.substr(4);; group = group.parent_path()) {
      const double limit = limit_of(mount / group);
      if (limit > 0 && (least == 0 || limit < least)) least = limit;
      if (group.empty()) break;
    }
  }
  return least;
}

}  // namespace

int QuotaCores(const fs::path& groups, const fs::path& mount) {
  return static_cast<int>(std::ceil(SmallestLimit(groups, mount, CoresOf)));
}

int64_t QuotaMemory(const fs::path& groups, const fs::path& mount) {
  return static_cast<int64_t>(SmallestLimit(groups, mount, BytesOf));
}

int UsableCores() {
  const int quota = QuotaCores(kGroups, kMount);
  return std::max(1, quota > 0 ? std::min(quota, MaskedCores()) : MaskedCores());
}

int64_t UsableMemory() {
  const int64_t machine = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  const int64_t quota = QuotaMemory(kGroups, kMount);
  return quota > 0 ? std::min(quota, machine) : machine;
}

}  // namespace agentr
