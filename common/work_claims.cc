#include "common/work_claims.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "common/error.h"
#include "common/file.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// Every run holds this byte as a reader; the one that writes the terms is alone.
constexpr int64_t kTermsByte = std::numeric_limits<int64_t>::max() - 1;

// Takes an open-file-description lock; false if another descriptor holds it, unless `wait`. Plain
// POSIX locks would be dropped when any other part of the process closes the file.
bool LockByte(int fd, int64_t byte, short type, bool wait = false) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  while (::fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EACCES) return false;
    throw FatalError(
        ExitCode::kFile,
        fmt::format("cannot lock a task in the output folder: {}; choose a folder on a "
                    "file system that supports locks",
                    std::strerror(errno)));
  }
  return true;
}

}  // namespace

WorkClaims::WorkClaims(const fs::path& folder, std::string_view terms) : terms_(terms) {
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
  if (LockByte(fd_, kTermsByte, F_WRLCK)) WriteTerms(claims);
  // If the run that wrote the terms ends here, they still are those of the others.
  LockByte(fd_, kTermsByte, F_RDLCK, /*wait=*/true);
  const std::string standing = ReadFile(claims);
  if (!standing.empty()) terms_ = standing;
}

// In place, because the locks belong to this file and not to its name.
void WorkClaims::WriteTerms(const fs::path& claims) {
  const auto size = static_cast<ssize_t>(terms_.size());
  if (::ftruncate(fd_, 0) == 0 && ::pwrite(fd_, terms_.data(), terms_.size(), 0) == size) return;
  const int reason = errno;
  if (::ftruncate(fd_, 0) != 0) ::unlink(claims.c_str());  // half of the terms are worse than none
  ::close(fd_);
  throw FatalError(ExitCode::kFile, fmt::format("cannot write {}: {}; free some space",
                                                claims.string(), std::strerror(reason)));
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
