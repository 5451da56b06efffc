// Random access to the lines of a JSON-lines file of any size, without reading it whole.
//
// Memory: 12 bytes per row, however long the rows are. The first opening reads the file once, on
// all cores, for the places where lines begin and the keys of their tasks. For a large file the
// result is left in ".<name>.rows" beside it (where the folder can be written), and the next
// opening reads only that. The index is made anew where the file's size or time of change is
// another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace agentr {

// Immutable and thread-safe.
class RowFile {
 public:
  static constexpr uint64_t kKeepIndexFrom = uint64_t{256} << 20;  // bytes

  // Throws FatalError(kFile) where the file cannot be read or has no rows. Lines of white space are
  // no rows. Files of fewer than `keep_index_from` bytes get no index file.
  explicit RowFile(std::filesystem::path path, uint64_t keep_index_from = kKeepIndexFrom);

  const std::filesystem::path& path() const { return path_; }
  int64_t rows() const { return static_cast<int64_t>(index_.begins.size()); }

  // Hash of the row's task (TaskKey), or of the row where it names none.
  uint32_t group(int64_t row) const { return index_.groups[static_cast<size_t>(row)]; }

  // The row's text. Throws FatalError(kFile).
  std::string Line(int64_t row) const;

  // "path:line" for messages. Lines count from 1, empty ones too. Reads the file up to the row.
  std::string Place(int64_t row) const;

  // Of the rows' places, tasks, beginnings and ends: tells files apart.
  const std::string& hash() const { return hash_; }

  // Where the index is left: "folder/.rows.jsonl.rows" for "folder/rows.jsonl".
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
