#include "common/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

namespace agentr {
namespace {

namespace fs = std::filesystem;

// Those of the affinity mask; of machines with more than 1,024 cores, all.
int MaskedCores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof(mask), &mask) == 0) return CPU_COUNT(&mask);
  return static_cast<int>(std::thread::hardware_concurrency());
}

// "150000 100000": microseconds of processor time in each period. "max": no limit.
double QuotaOf(const fs::path& file) {
  std::ifstream in(file);
  double quota = 0, period = 0;
  return in >> quota >> period && period > 0 ? quota / period : 0;
}

}  // namespace

int QuotaCores(const fs::path& groups, const fs::path& mount) {
  std::ifstream in(groups);
  std::string line;
  double least = 0;
  while (std::getline(in, line)) {
    if (!line.starts_with("0::/")) continue;  // version 1
    for (fs::path group = line.substr(4);; group = group.parent_path()) {
      const double quota = QuotaOf(mount / group / "cpu.max");
      if (quota > 0 && (least == 0 || quota < least)) least = quota;
      if (group.empty()) break;
    }
  }
  return static_cast<int>(std::ceil(least));
}

int UsableCores() {
  const int quota = QuotaCores("/proc/self/cgroup", "/sys/fs/cgroup");
  return std::max(1, quota > 0 ? std::min(quota, MaskedCores()) : MaskedCores());
}

}  // namespace agentr
