#include "mcts/tree_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "common/file.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// Open-file-description locks belong to the descriptor: they are not dropped when some other part
// of the process closes the file, as plain POSIX locks are. False if another descriptor holds it.
bool LockByte(int fd, int byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw FatalError(ExitCode::kFile,
                   fmt::format("cannot lock a task in the output folder: {}; choose a folder on a "
                               "file system with locks",
                               std::strerror(errno)));
}

}  // namespace

FileTreeStore::FileTreeStore(fs::path folder, TreeFormat format)
    : folder_(std::move(folder)), format_(format) {
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path claims = folder_ / ".claims";
  if (!error) claims_fd_ = ::open(claims.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (claims_fd_ < 0) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("cannot write in folder {}: {}; choose another output folder or "
                                 "fix its permissions",
                                 folder_.string(),
                                 error ? error.message() : std::string(std::strerror(errno))));
  }
}

FileTreeStore::~FileTreeStore() { ::close(claims_fd_); }

fs::path FileTreeStore::PathOf(int task) const {
  return folder_ / fmt::format("search_results_{}.json", task);
}

Claim FileTreeStore::TryClaim(int task) {
  const std::lock_guard lock(mutex_);
  if (mine_.contains(task) || !LockByte(claims_fd_, task, F_WRLCK)) return Claim::kTaken;
  const fs::path path = PathOf(task);
  if (fs::exists(path)) {
    LockByte(claims_fd_, task, F_UNLCK);
    return Claim::kDone;
  }
  // What a killed run left half-written.
  std::error_code none_there;
  fs::remove(TemporaryPath(path), none_there);
  mine_.insert(task);
  return Claim::kMine;
}

void FileTreeStore::Commit(const Tree& tree) {
  const int task = tree.origin().task;
  try {
    WriteFileAtomically(PathOf(task), WriteTree(tree, format_));
  } catch (...) {
    Release(task);
    throw;
  }
  Release(task);
}

void FileTreeStore::Release(int task) {
  const std::lock_guard lock(mutex_);
  mine_.erase(task);
  LockByte(claims_fd_, task, F_UNLCK);
}

Tree FileTreeStore::Load(int task) const {
  const fs::path path = PathOf(task);
  return ReadTree(ReadFile(path), path.string());
}

}  // namespace agentr
