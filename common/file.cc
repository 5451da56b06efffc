#include "common/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/interrupt.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void ThrowFileError(std::string_view doing, const fs::path& path, int error) {
  std::string_view cure = "";
  if (error == ENOSPC || error == EDQUOT)
    cure = "; free some space and run the command again: it continues";
  if (error == EACCES || error == EROFS) cure = "; choose another folder or fix its permissions";
  throw FatalError(ExitCode::kFile,
                   fmt::format("{} {}: {}{}", doing, path.string(), std::strerror(error), cure));
}

// A file descriptor that is closed on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

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
    // Some network file systems cannot sync a folder. The rename is already done, so this is no
    // error.
    if (errno != EINVAL && errno != ENOTSUP) ThrowFileError("cannot sync folder", folder, errno);
  }
}

fs::path FolderOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

constexpr std::chrono::milliseconds kLookAtLock(20);

void MakeFolderOf(const fs::path& path) {
  const fs::path folder = FolderOf(path);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) ThrowFileError("cannot make folder", folder, error.value());
}

}  // namespace

std::string NameOf(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string ReadFile(const fs::path& path) {
  // Reading a pipe could wait forever, and a device may never end.
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("cannot read {}: it is a pipe or a device, not a file; remove it "
                                 "or name another file",
                                 path.string()));
  }
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) ThrowFileError("cannot read", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) ThrowFileError("cannot read", path, errno);
  // With room for its size the last call of read finds the end. A file in /proc has the size 0.
  constexpr size_t kMore = 64 << 10;
  std::string text(static_cast<size_t>(info.st_size) + 1, '\0');
  size_t end = 0;
  while (true) {
    if (end == text.size()) text.resize(end + kMore);
    const ssize_t n = ::read(fd.get(), text.data() + end, text.size() - end);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowFileError("cannot read", path, errno);
    if (n == 0) break;
    end += static_cast<size_t>(n);
  }
  text.resize(end);
  return text;
}

void RefuseLfsPointer(std::string_view text, const fs::path& path) {
  if (!text.starts_with("version https://git-lfs")) return;
  throw FatalError(ExitCode::kFile,
                   fmt::format("{}: this is only a pointer of Git LFS, not the file "
                               "itself; run \"git lfs pull\" in its folder",
                               path.string()));
}

namespace {

fs::path HeldPath(const fs::path& path) { return path.string() + ".held"; }

// The cure for the file of a process of another machine, which may have ended.
std::string Leftover(const fs::path& path) {
  const std::string holder = HeldFile::Holder(HeldPath(path));
  if (holder.empty()) return "";
  return fmt::format("; if {} has ended, remove {}", holder, HeldPath(path).string());
}

[[noreturn]] void ThrowLocked(const fs::path& path, FileLock::IfLocked if_locked) {
  const fs::path folder = path.parent_path();
  if (if_locked == FileLock::IfLocked::kWait) {
    throw FatalError(ExitCode::kInterrupted,
                     fmt::format("stopped while another process used {}", folder.string()));
  }
  throw FatalError(ExitCode::kFile,
                   fmt::format("{} is in use by another process. Cure: wait until it has ended, "
                               "or choose another name for this run{}",
                               folder.string(), Leftover(path)));
}

}  // namespace

FileLock::FileLock(const fs::path& path, IfLocked if_locked) {
  MakeFolderOf(path);
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) ThrowFileError("cannot open", path, errno);
  // A process that holds the lock may do so for hours. When the run is being stopped, what is still
  // to be written beside its results is worth a short wait.
  StopTime stop(Interrupted(), 2);
  try {
    while (!TryLock(path)) {
      if (if_locked == IfLocked::kRefuse || stop.Passed()) ThrowLocked(path, if_locked);
      std::this_thread::sleep_for(kLookAtLock);
    }
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

bool FileLock::TryLock(const fs::path& path) {
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    if (reason == EINTR) continue;
    if (reason == EWOULDBLOCK) return false;
    if (reason != ENOLCK && reason != ENOSYS && reason != EOPNOTSUPP) {
      ThrowFileError("cannot lock", path, reason);
    }
    static std::once_flag once;
    std::call_once(once, [&] {
      spdlog::warn(
          "the file system of {} has no locks ({}); files named *.held exclude other runs "
          "instead",
          path.parent_path().string(), std::strerror(reason));
    });
    if (auto held = HeldFile::TryTake(HeldPath(path))) held_.emplace(std::move(*held));
    return held_.has_value();
  }
  return true;
}

FileLock::~FileLock() { ::close(fd_); }

fs::path TemporaryPath(const fs::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".tmp");
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  MakeFolderOf(path_);
  fd_ = ::open(TemporaryPath(path_).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) Fail("cannot write");
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(TemporaryPath(path_).c_str());
}

void AtomicFile::Fail(std::string_view doing) const { ThrowFileError(doing, path_, errno); }

void AtomicFile::Append(std::string_view bytes) {
  if (!WriteAll(fd_, bytes)) Fail("cannot write");
}

void AtomicFile::Commit() {
  if (::fsync(fd_) != 0) Fail("cannot sync");
  if (::rename(TemporaryPath(path_).c_str(), path_.c_str()) != 0) Fail("cannot rename into");
  ::close(std::exchange(fd_, -1));  // the data is on disk, so an error of close would lose nothing
  SyncFolder(FolderOf(path_));
}

void WriteFileAtomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.Append(bytes);
  file.Commit();
}

void WriteFileAtomically(const fs::path& path,
                         const std::function<bool(std::string& block)>& next) {
  AtomicFile file(path);
  for (std::string block; next(block); block.clear()) file.Append(block);
  file.Commit();
}

}  // namespace agentr
