// Random access to the lines of a JSON-lines file of any size, without reading it whole.
//
// Memory: 12 bytes per row, whatever the rows' length. The first opening reads the file once, on
// all cores, for the places where lines begin and the keys of their tasks; it leaves them in
// ".<name>.rows" beside the file (where the folder can be written), and the next one reads that.
// The index is made anew where the file's size or time of change is another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace agentr {

// Immutable and thread-safe.
class RowFile {
 public:
  // Throws FatalError(kFile) where the file cannot be read or has no rows. Lines of white space are
  // no rows.
  explicit RowFile(std::filesystem::path path);
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int64_t rows() const { return static_cast<int64_t>(begins_.size()); }

  // Hash of the row's task (TaskKey), or of its bytes where the row names none.
  uint32_t group(int64_t row) const { return groups_[static_cast<size_t>(row)]; }

  // The row's text. Throws FatalError(kFile).
  std::string Line(int64_t row) const;

  // "path:line" for messages; counts lines from 1, empty ones too.
  std::string Place(int64_t row) const;

  // Of the rows' places and tasks: tells files apart.
  const std::string& hash() const { return hash_; }

 private:
  void Scan();
  bool ReadIndex();
  void WriteIndex() const;

  const std::filesystem::path path_;
  int fd_ = -1;
  uint64_t size_ = 0;
  std::vector<uint64_t> begins_;  // [rows] offsets
  std::vector<uint32_t> groups_;  // [rows]
  std::string hash_;
};

}  // namespace agentr
