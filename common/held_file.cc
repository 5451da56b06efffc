#include "common/held_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "common/error.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// A process: its machine, its number, and when it was started, because numbers are given again.
struct Process {
  std::string host, pid, start;

  bool operator==(const Process&) const = default;
};

// Field 22 of /proc/PID/stat; "" if there is no such process.
std::string StartOf(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text;
  std::getline(in, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return "";
  size_t at = name_end + 1;
  for (int field = 3; field < 22; ++field) at = text.find(' ', at + 1);
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

Process Self() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string pid = std::to_string(::getpid());
  return {host.data(), pid, StartOf(pid)};
}

Process Read(const fs::path& path) {
  Process process;
  std::ifstream in(path);
  in >> process.host >> process.pid >> process.start;
  return process;
}

// Whether the process that the file names is known to have ended.
bool HasEnded(const Process& process) {
  return !process.start.empty() && process.host == Self().host &&
         StartOf(process.pid) != process.start;
}

// False if it exists already. A file without its content, for a moment or after a crash, is held.
bool Make(const fs::path& path) {
  const Process self = Self();
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) return false;
  const std::string text = fmt::format("{} {} {}\n", self.host, self.pid, self.start);
  const bool made = fd >= 0 && ::write(fd, text.data(), text.size()) == std::ssize(text);
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (made) return true;
  if (fd >= 0) ::unlink(path.c_str());
  throw FatalError(ExitCode::kFile, fmt::format("cannot lock by the file {}: {}", path.string(),
                                                std::strerror(error)));
}

}  // namespace

std::optional<HeldFile> HeldFile::TryTake(const fs::path& path) {
  if (Make(path)) return HeldFile(path);
  const Process holder = Read(path);
  if (!HasEnded(holder)) return std::nullopt;
  // One at a time may remove what was left over, and only if it is still the same.
  const fs::path removal = path.string() + ".removal";
  if (!Make(removal)) {
    if (HasEnded(Read(removal))) ::unlink(removal.c_str());
    return std::nullopt;
  }
  if (Read(path) == holder) ::unlink(path.c_str());
  const bool made = Make(path);
  ::unlink(removal.c_str());
  if (!made) return std::nullopt;
  return HeldFile(path);
}

std::string HeldFile::Holder(const fs::path& path) {
  const Process holder = Read(path);
  return holder.pid.empty() ? "" : fmt::format("process {} on {}", holder.pid, holder.host);
}

HeldFile::HeldFile(HeldFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

HeldFile::~HeldFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace agentr
