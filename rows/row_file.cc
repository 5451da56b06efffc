#include "rows/row_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <oneapi/tbb/parallel_for.h>
#include <string.h>  // memmem
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/handoff.h"
#include "common/hash.h"
#include "common/random.h"
#include "common/text.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr size_t kChunk = size_t{32} << 20;  // bytes that one oneTBB task scans

[[noreturn]] void CannotRead(const fs::path& path, const std::string& why) {
  throw FatalError(ExitCode::kFile, fmt::format("cannot read {}: {}", path.string(), why));
}

uint64_t HashText(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a, 64 bit
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return RandomStream(hash).Next();
}

// Hashes only the beginning, the end and the length, because all bytes of a large file would take
// too long.
uint64_t HashRow(std::string_view line) {
  constexpr size_t kEnds = 128;
  const size_t end = line.size() - std::min(line.size(), kEnds);
  return HashText(line.substr(0, kEnds)) ^ (HashText(line.substr(end)) * 3 + line.size());
}

// The whole file mapped into memory, whose pages the system can drop at any time.
class Mapping {
 public:
  Mapping(int fd, size_t size, const fs::path& path) : size_(size) {
    data_ = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data_ == MAP_FAILED) CannotRead(path, std::strerror(errno));
    ::madvise(data_, size_, MADV_SEQUENTIAL);
  }
  ~Mapping() { ::munmap(data_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }
  void Release(size_t begin, size_t end) const {  // multiples of the page size, or the file's end
    ::madvise(static_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

size_t EndOfLine(std::string_view text, size_t at) {
  return std::min(text.find('\n', at), text.size());
}

std::string_view BytesOf(const auto& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
}

// The position of the last `key`, with the C library's search, which is much faster than rfind.
size_t LastPlace(std::string_view text, std::string_view key) {
  size_t last = std::string_view::npos;
  for (size_t from = 0; from < text.size();) {
    const void* found = ::memmem(text.data() + from, text.size() - from, key.data(), key.size());
    if (found == nullptr) break;
    last = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    from = last + 1;
  }
  return last;
}

// The value after the last `key` in `text`: a string without its quotes, or the text up to the next
// delimiter.
std::string_view ValueAfter(std::string_view text, std::string_view key) {
  const size_t found = LastPlace(text, key);
  if (found == std::string_view::npos) return {};
  std::string_view rest = text.substr(found + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with('"')) {
    const size_t end = rest.find('"', 1);
    return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
  }
  return rest.substr(0, std::min(rest.find_first_of(",} \t\r"), rest.size()));
}

}  // namespace

std::string_view TaskKey(std::string_view line) {
  // Quotes inside texts are escaped, so a key with its quotes is really a key.
  constexpr size_t kHead = 512, kTail = 16384;
  const std::string_view head = line.substr(0, kHead);
  const std::string_view tail = line.substr(line.size() - std::min(line.size(), kTail));
  // Searches the short beginning first, because Agent-R's rows have their number there.
  constexpr std::string_view kTask = "\"task\":", kNumber = "\"task_num\":", kItem = "\"item_id\":";
  const std::pair<std::string_view, std::string_view> places[] = {
      {head, kTask}, {head, kNumber}, {tail, kTask}, {tail, kNumber}, {tail, kItem}, {head, kItem}};
  for (const auto& [text, key] : places) {
    if (const std::string_view value = ValueAfter(text, key); !value.empty()) return value;
  }
  return {};
}

RowFile::OpenFile::OpenFile(const fs::path& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) CannotRead(path, std::strerror(errno));
}

RowFile::OpenFile::~OpenFile() { ::close(fd_); }

RowFile::RowFile(std::filesystem::path path, uint64_t keep_index_from)
    : path_(std::move(path)), file_(path_) {
  struct stat status = {};
  if (::fstat(file_.fd(), &status) != 0) CannotRead(path_, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) CannotRead(path_, "it is not a file, but a folder or a device");
  size_ = static_cast<uint64_t>(status.st_size);
  changed_ = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  const bool keep = size_ >= keep_index_from;
  if (!keep || !ReadIndex()) {
    Scan();
    if (keep) WriteIndex();
  }
  if (index_.begins.empty()) CannotRead(path_, "it has no rows");
  hash_ = Sha256(fmt::format("{} {} ", size_, index_.content) + Sha256(BytesOf(index_.begins)) +
                 Sha256(BytesOf(index_.groups)));
}

void RowFile::Scan() {
  if (size_ == 0) return;
  const Mapping file(file_.fd(), size_, path_);
  const std::string_view text = file.text();
  const size_t chunks = (text.size() + kChunk - 1) / kChunk;
  std::vector<Index> parts(chunks);
  // A chunk contains the lines that begin in it; the last of them may end in the next chunk.
  Handoff start, done;
  start.Give();
  tbb::parallel_for(size_t{0}, chunks, [&](size_t chunk) {
    start.Take();
    const size_t begin = chunk * kChunk, end = std::min(begin + kChunk, text.size());
    size_t at = begin == 0 || text[begin - 1] == '\n' ? begin : EndOfLine(text, begin) + 1;
    while (at < end) {
      const size_t stop = EndOfLine(text, at);
      const std::string_view line = text.substr(at, stop - at);
      if (!Trim(line).empty()) {
        const std::string_view task = TaskKey(line);
        const uint64_t hash = HashRow(line);
        parts[chunk].begins.push_back(at);
        parts[chunk].groups.push_back(static_cast<uint32_t>(task.empty() ? hash : HashText(task)));
        parts[chunk].content += hash;
      }
      at = stop + 1;
    }
    file.Release(begin, end);
    done.Give();
  });
  done.Take();
  for (Index& part : parts) {
    index_.begins.insert(index_.begins.end(), part.begins.begin(), part.begins.end());
    index_.groups.insert(index_.groups.end(), part.groups.begin(), part.groups.end());
    index_.content += part.content;
    part = {};
  }
}

std::string RowFile::Line(int64_t row) const {
  const auto at = static_cast<size_t>(row);
  const uint64_t begin = index_.begins[at];
  const uint64_t end = at + 1 < index_.begins.size() ? index_.begins[at + 1] : size_;
  std::string text(end - begin, '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::pread(file_.fd(), text.data() + done, text.size() - done,
                                  static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) CannotRead(path_, std::strerror(errno));
    if (count == 0)
      CannotRead(path_, "it has become shorter; do not change the data while it is used");
    done += static_cast<size_t>(count);
  }
  text.resize(EndOfLine(text, 0));  // empty lines may follow
  return text;
}

std::string RowFile::Place(int64_t row) const {
  const uint64_t begin = index_.begins[static_cast<size_t>(row)];
  std::string block(size_t{1} << 20, '\0');
  int64_t line = 1;
  for (uint64_t at = 0; at < begin;) {
    const ssize_t count =
        ::pread(file_.fd(), block.data(), std::min<uint64_t>(block.size(), begin - at),
                static_cast<off_t>(at));
    if (count <= 0) break;  // a message with a too small line number is better than none
    line += std::count(block.begin(), block.begin() + count, '\n');
    at += static_cast<uint64_t>(count);
  }
  return fmt::format("{}:{}", path_.string(), line);
}

fs::path RowFile::IndexPath(const fs::path& path) {
  return path.parent_path() / fmt::format(".{}.rows", path.filename().string());
}

// The index file: the header, then the offsets, then the groups, then the SHA-256 of these two.
std::string RowFile::IndexHeader() const {
  return fmt::format("agentr rows 1: {} bytes, changed {}, ", size_, changed_);
}

std::string RowFile::IndexBody() const {
  std::string body(BytesOf(index_.begins));
  body += BytesOf(index_.groups);
  return body;
}

void RowFile::WriteIndex() const {
  try {
    const fs::path path = IndexPath(path_);
    const FileLock lock(path.string() + ".lock");  // several processes of a job open it at once
    const std::string body = IndexBody();
    WriteFileAtomically(
        path, fmt::format("{}{} rows, content {}\n", IndexHeader(), rows(), index_.content) + body +
                  Sha256(body));
  } catch (const FatalError&) {
    // If the folder is not writable, the only cost is another scan at the next start.
  }
}

bool RowFile::ReadIndex() {
  const fs::path path = IndexPath(path_);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const std::string file = ReadFile(path);
  const std::string header = IndexHeader();
  if (!file.starts_with(header)) return false;
  unsigned long long rows = 0, content = 0;
  int length = 0;
  const std::string line = file.substr(header.size(), 80);
  if (std::sscanf(line.c_str(), "%llu rows, content %llu%n", &rows, &content, &length) != 2) {
    return false;
  }
  const size_t begin = header.size() + static_cast<size_t>(length) + 1;
  const size_t row_bytes = sizeof(uint64_t) + sizeof(uint32_t);
  constexpr size_t kHash = 64;
  if (rows > file.size() || file.size() != begin + rows * row_bytes + kHash) return false;
  const std::string_view body = std::string_view(file).substr(begin, rows * row_bytes);
  if (Sha256(body) != std::string_view(file).substr(begin + body.size())) return false;
  index_.begins.resize(rows);
  index_.groups.resize(rows);
  std::memcpy(index_.begins.data(), body.data(), rows * sizeof(uint64_t));
  std::memcpy(index_.groups.data(), body.data() + rows * sizeof(uint64_t), rows * sizeof(uint32_t));
  index_.content = content;
  return true;
}

}  // namespace agentr
