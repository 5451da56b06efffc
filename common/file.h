// Whole files: read, and written all or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace agentr {

// The last part of a folder's path; "models/small/" and "." have one too.
std::string NameOf(const std::filesystem::path& folder);

// The whole file. Throws FatalError(kFile) naming the path and the reason.
std::string ReadFile(const std::filesystem::path& path);

// Throws FatalError(kFile) where `text`, the content of `path`, is only the pointer that Git LFS
// leaves in place of a file that was not fetched, with the cure.
void RefuseLfsPointer(std::string_view text, const std::filesystem::path& path);

// A file that is written piece by piece, and appears at `path` as a whole: after any crash `path`
// holds either its old content or, once Commit has returned, all of the new. Temporary file in the
// same folder, fsync, rename, fsync of the folder (missing folders are made). The temporary name is
// a function of `path` (TemporaryPath), so a left-over is overwritten by the next attempt; callers
// see to it that one process at a time writes a path. All of it throws FatalError(kFile) naming the
// path, the reason and the cure; without a Commit nothing is left behind.
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

// Writes the whole file by AtomicFile.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

// The same for a file that is too big to hold: `next` fills an empty block, and returns false when
// there is no more.
void WriteFileAtomically(const std::filesystem::path& path,
                         const std::function<bool(std::string& block)>& next);

// An exclusive lock on the file `path` (made if missing, with its folder) among processes, held until destroyed; for
// read-change-write of a file that several runs share. Throws FatalError(kFile).
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

// "folder/.name.tmp" for "folder/name".
std::filesystem::path TemporaryPath(const std::filesystem::path& path);

}  // namespace agentr
