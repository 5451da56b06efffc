#include "common/openmp_wait.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace agentr {

void ShortenOpenMpWaiting(char** argv) {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"}) {
    if (std::getenv(name) != nullptr) return;
  }
  setenv("GOMP_SPINCOUNT", "1000", 1);
  setenv("KMP_BLOCKTIME", "0", 1);
  if (dlsym(RTLD_DEFAULT, "omp_get_max_threads") == nullptr) return;  // not loaded yet
  // Not /proc/self/exe itself: ps would call the program "exe". If it fails, the program is slower
  // beside others, and that is all.
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) execv(program.c_str(), argv);
}

}  // namespace agentr
