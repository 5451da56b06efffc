// Reads and writes whole files; a file is written either completely or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/held_file.h"

namespace agentr {

// The last part of a folder's path, also for "models/small/" and ".".
std::string NameOf(const std::filesystem::path& folder);

// The whole file. Throws FatalError(kFile) naming the path and the reason.
std::string ReadFile(const std::filesystem::path& path);

// Throws FatalError(kFile) with the cure if `text`, the content of `path`, is only the pointer that
// Git LFS leaves instead of a file that was not downloaded.
void RefuseLfsPointer(std::string_view text, const std::filesystem::path& path);

// A file that is written in parts and appears at `path` as a whole: after a crash `path` holds its
// old content or, once Commit has returned, all of the new content. Steps: temporary file in the
// same folder, fsync, rename, fsync of the folder (missing folders are made). The temporary name is
// a function of `path` (TemporaryPath), so the next attempt overwrites a left-over; callers must
// ensure that only one process at a time writes a path. Every member throws FatalError(kFile)
// naming the path, the reason and the cure. Without a Commit nothing is left behind.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Append(std::string_view bytes);
  void Commit();  // once, at the end

 private:
  [[noreturn]] void Fail(std::string_view doing) const;

  const std::filesystem::path path_;
  int fd_ = -1;
};

// Writes the whole file through an AtomicFile.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

// The same for a file that does not fit into memory: `next` fills an empty block and returns false
// at the end.
void WriteFileAtomically(const std::filesystem::path& path,
                         const std::function<bool(std::string& block)>& next);

// Excludes other processes by a lock on the file `path` (made if missing, with its folder) until
// destroyed: waits for it, for read-change-write of a file that several runs share, or refuses, for
// the folder of a run that a second process must not touch. Where the file system has no locks, a
// HeldFile beside `path` takes their place, with a warning. Throws FatalError: kFile, and
// kInterrupted if the run was stopped and the lock was not free for some seconds.
class FileLock {
 public:
  enum class IfLocked { kWait, kRefuse };
  explicit FileLock(const std::filesystem::path& path, IfLocked if_locked = IfLocked::kWait);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  bool TryLock(const std::filesystem::path& path);

  int fd_ = -1;
  std::optional<HeldFile> held_;
};

// "folder/.name.tmp" for "folder/name".
std::filesystem::path TemporaryPath(const std::filesystem::path& path);

}  // namespace agentr
