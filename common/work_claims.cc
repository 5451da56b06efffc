#include "common/work_claims.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/error.h"
#include "common/file.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// Takes an open-file-description lock; false if another descriptor holds it. Plain POSIX locks
// would be dropped when any other part of the process closes the file.
bool LockByte(int fd, int64_t byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw FatalError(ExitCode::kFile,
                   fmt::format("cannot lock a task in the output folder: {}; choose a folder on a "
                               "file system that supports locks",
                               std::strerror(errno)));
}

}  // namespace

WorkClaims::WorkClaims(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path claims = folder / ".claims";
  if (!error) fd_ = ::open(claims.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    throw FatalError(
        ExitCode::kFile,
        fmt::format("cannot write in folder {}: {}; choose another output folder or "
                    "fix its permissions",
                    folder.string(), error ? error.message() : std::string(std::strerror(errno))));
  }
}

WorkClaims::~WorkClaims() { ::close(fd_); }

Claim WorkClaims::TryClaim(int64_t key, const fs::path& result) {
  const std::lock_guard lock(mutex_);
  if (mine_.contains(key) || !LockByte(fd_, key, F_WRLCK)) return Claim::kTaken;
  // Must follow the lock: another run may have finished the item since the caller last looked.
  if (fs::exists(result)) {
    LockByte(fd_, key, F_UNLCK);
    return Claim::kDone;
  }
  std::error_code none_there;
  fs::remove(TemporaryPath(result), none_there);
  mine_.insert(key);
  return Claim::kMine;
}

void WorkClaims::Release(int64_t key) {
  const std::lock_guard lock(mutex_);
  mine_.erase(key);
  LockByte(fd_, key, F_UNLCK);
}

}  // namespace agentr
