#include "common/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "common/error.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void ThrowFileError(std::string_view doing, const fs::path& path, int error) {
  std::string_view cure = "";
  if (error == ENOSPC || error == EDQUOT) cure = "; free some space and run again, it continues";
  if (error == EACCES || error == EROFS) cure = "; choose another folder or fix its permissions";
  throw FatalError(ExitCode::kFile,
                   fmt::format("{} {}: {}{}", doing, path.string(), std::strerror(error), cure));
}

// A file descriptor that is closed on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool Close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void SyncFolder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) {
    // Some network file systems cannot sync a folder; the rename itself is done.
    if (errno != EINVAL && errno != ENOTSUP) ThrowFileError("cannot sync folder", folder, errno);
  }
}

}  // namespace

std::string ReadFile(const fs::path& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) ThrowFileError("cannot read", path, errno != 0 ? errno : EIO);
  if (fs::is_directory(path)) ThrowFileError("cannot read", path, EISDIR);
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) ThrowFileError("cannot read", path, errno != 0 ? errno : EIO);
  return std::move(text).str();
}

FileLock::FileLock(const fs::path& path)
    : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (fd_ < 0) ThrowFileError("cannot open", path, errno);
  while (::flock(fd_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int reason = errno;
    ::close(fd_);
    ThrowFileError("cannot lock", path, reason);
  }
}

FileLock::~FileLock() { ::close(fd_); }

fs::path TemporaryPath(const fs::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".tmp");
}

void WriteFileAtomically(const fs::path& path, std::string_view bytes) {
  bool written = false;
  WriteFileAtomically(path, [&](std::string& block) {
    if (!written) block = bytes;
    return !std::exchange(written, true);
  });
}

void WriteFileAtomically(const fs::path& path,
                         const std::function<bool(std::string& block)>& next) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) ThrowFileError("cannot make folder", folder, error.value());
  const fs::path temporary = TemporaryPath(path);
  const auto fail = [&](std::string_view doing) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    ThrowFileError(doing, path, reason);
  };
  Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (fd.get() < 0) ThrowFileError("cannot write", path, errno);
  for (std::string block; next(block); block.clear()) {
    if (!WriteAll(fd.get(), block)) fail("cannot write");
  }
  if (::fsync(fd.get()) != 0) fail("cannot sync");
  if (!fd.Close()) fail("cannot write");
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail("cannot rename into");
  SyncFolder(folder);
}

}  // namespace agentr
