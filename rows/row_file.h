// Random access to the lines of a JSON-lines file of any size, without loading it completely.
//
// Memory: 12 bytes per row of any length. The first opening reads the file once, on all cores, to
// find the beginnings of lines and the keys of their tasks. For a large file this index is stored
// in ".<name>.rows" beside it (if the folder is writable), and later openings read only the index.
// It is made again if the file's size or modification time has changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The key of a row's task: the value of "task", "task_num" or "item_id" in the first 512 or the
// last 16,384 bytes of the line; empty if there is none. Works without JSON parsing.
std::string_view TaskKey(std::string_view line);

// Immutable and thread-safe.
class RowFile {
 public:
  static constexpr uint64_t kKeepIndexFrom = uint64_t{256} << 20;  // bytes

  // Throws FatalError(kFile) if the file cannot be read or has no rows. Lines of white space are
  // ignored. Files of fewer than `keep_index_from` bytes get no index file.
  explicit RowFile(std::filesystem::path path, uint64_t keep_index_from = kKeepIndexFrom);

  const std::filesystem::path& path() const { return path_; }
  int64_t rows() const { return static_cast<int64_t>(index_.begins.size()); }

  // Hash of the row's task (TaskKey), or of the row if it names none.
  uint32_t group(int64_t row) const { return index_.groups[static_cast<size_t>(row)]; }

  // The row's text. Throws FatalError(kFile).
  std::string Line(int64_t row) const;

  // "path:line" for messages. Lines are counted from 1, including empty ones. Reads the file up to
  // the row.
  std::string Place(int64_t row) const;

  // A hash of the rows' positions, tasks, beginnings and ends, which distinguishes files.
  const std::string& hash() const { return hash_; }

  // The path of the index: "folder/.rows.jsonl.rows" for "folder/rows.jsonl".
  static std::filesystem::path IndexPath(const std::filesystem::path& path);

 private:
  struct Index {
    std::vector<uint64_t> begins;  // [rows] offsets
    std::vector<uint32_t> groups;  // [rows]
    uint64_t content = 0;          // sum of the rows' hashes
  };

  void Scan();
  bool ReadIndex();
  void WriteIndex() const;
  std::string IndexHeader() const;
  std::string IndexBody() const;

  class OpenFile {
   public:
    explicit OpenFile(const std::filesystem::path& path);
    ~OpenFile();
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    int fd() const { return fd_; }

   private:
    int fd_;
  };

  const std::filesystem::path path_;
  const OpenFile file_;
  uint64_t size_ = 0;
  int64_t changed_ = 0;  // nanoseconds
  Index index_;
  std::string hash_;
};

}  // namespace agentr
