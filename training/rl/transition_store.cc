#include "training/rl/transition_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/error.h"
#include "common/file.h"
#include "training/tensorboard.h"

namespace agentr {
namespace {

constexpr std::string_view kMagic = "agentrl1";
constexpr uint32_t kMostBytes = 1 << 28;  // of a record; more means that the file is damaged

struct RecordHead {
  uint32_t bytes = 0;
  uint32_t crc = 0;
};

class BodyWriter {
 public:
  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <typename Items>
  void AddAll(const Items& items) {
    Add(static_cast<uint32_t>(items.size()));
    bytes_.append(reinterpret_cast<const char*>(items.data()),
                  items.size() * sizeof(typename Items::value_type));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class BodyReader {
 public:
  explicit BodyReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  void Take(T& value) {
    std::memcpy(&value, Bytes(sizeof(T)).data(), sizeof(T));
  }
  // A byte other than 0 and 1 would be no bool.
  void Take(bool& value) { value = Bytes(1).front() != 0; }
  template <typename Items>
  void TakeAll(Items& items) {
    uint32_t count = 0;
    Take(count);
    const std::string_view from = Bytes(count * sizeof(typename Items::value_type));
    items.resize(count);
    if (count > 0) std::memcpy(items.data(), from.data(), from.size());
  }

 private:
  std::string_view Bytes(size_t count) {
    if (count > bytes_.size()) {
      throw FatalError(ExitCode::kFile,
                       "a transition is shorter than it says: written by another "
                       "version of the program?");
    }
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }

  std::string_view bytes_;
};

// Calls `on` with every field, so that writing and reading cannot differ.
template <typename T, typename On>
void ForEachField(T& t, const On& on) {
  on(t.episode), on(t.slot), on(t.step), on(t.prompt), on(t.action), on(t.tokens), on(t.logprobs);
  on(t.choice), on(t.value), on(t.weights_version), on(t.reward), on(t.done), on(t.truncated);
}

std::string Packed(const Transition& transition) {
  BodyWriter body;
  ForEachField(transition, [&](const auto& field) {
    if constexpr (requires { field.size(); }) {
      body.AddAll(field);
    } else {
      body.Add(field);
    }
  });
  return body.bytes();
}

Transition Unpacked(std::string_view bytes) {
  BodyReader body(bytes);
  Transition transition;
  ForEachField(transition, [&](auto& field) {
    if constexpr (requires { field.size(); }) {
      body.TakeAll(field);
    } else {
      body.Take(field);
    }
  });
  return transition;
}

// Reads `size` bytes at `offset`; false if the file ends before.
bool ReadAt(int fd, uint64_t offset, void* to, size_t size) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(fd, bytes, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got, offset += static_cast<uint64_t>(got), size -= static_cast<size_t>(got);
  }
  return true;
}

bool WriteAt(int fd, uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put)), offset += static_cast<uint64_t>(put);
  }
  return true;
}

// The body of the record at `begin`; false if it is not whole.
bool ReadBody(int fd, uint64_t begin, std::string& body) {
  RecordHead head;
  if (!ReadAt(fd, begin, &head, sizeof(head))) return false;
  if (head.bytes == 0 || head.bytes > kMostBytes) return false;
  body.resize(head.bytes);
  return ReadAt(fd, begin + sizeof(head), body.data(), head.bytes) && Crc32c(body) == head.crc;
}

}  // namespace

TransitionStore::TransitionStore(const std::filesystem::path& path, int64_t count)
    : path_(path.string() + ".bin") {
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path());
  Open(O_RDWR | O_CREAT);
  ReadRecords(count);
  if (size() < count) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: only {} of the {} transitions of the checkpoint are whole. "
                                 "Cure: another --name, which begins a new run",
                                 path_.string(), size(), count));
  }
  if (end_ == kMagic.size() && !WriteAt(fd_, 0, kMagic)) Fail("write");
  if (::ftruncate(fd_, static_cast<off_t>(end_)) != 0) {
    Fail("cut off what is behind the checkpoint");
  }
}

TransitionStore::TransitionStore(const std::filesystem::path& path)
    : path_(path.extension() == ".bin" ? path.string() : path.string() + ".bin") {
  Open(O_RDONLY);
  ReadRecords(std::numeric_limits<int64_t>::max());
  if (size() > 0) return;
  throw FatalError(ExitCode::kFile,
                   fmt::format("{} has no transitions. Cure: name those of a run that has played, "
                               "--transitions rl_result/NAME/transitions",
                               path_.string()));
}

void TransitionStore::Open(int flags) {
  fd_.number = ::open(path_.c_str(), flags | O_CLOEXEC, 0644);
  if (fd_ < 0) Fail("open");
}

TransitionStore::Descriptor::~Descriptor() {
  if (number >= 0) ::close(number);
}

TransitionStore::~TransitionStore() = default;

void TransitionStore::Fail(const char* doing) const {
  throw FatalError(ExitCode::kFile, fmt::format("{}: cannot {}: {}. Usual cure: free space on the "
                                                "disk, or another folder",
                                                path_.string(), doing, std::strerror(errno)));
}

// The first `most` records, or as many as are whole.
void TransitionStore::ReadRecords(int64_t most) {
  std::string magic(kMagic.size(), '\0');
  end_ = kMagic.size();
  // A shorter file is new, or its first write was torn.
  if (!ReadAt(fd_, 0, magic.data(), magic.size())) return;
  if (magic != kMagic) {
    throw FatalError(ExitCode::kFile, path_.string() + " contains no transitions of agent_rl");
  }
  for (std::string body; size() < most && ReadBody(fd_, end_, body);) {
    Note(Unpacked(body), end_);
    end_ += sizeof(RecordHead) + body.size();
  }
}

void TransitionStore::Note(const Transition& t, uint64_t begin) {
  const int64_t number = size();
  std::vector<int64_t>& episode = open_[t.episode];
  if (!episode.empty()) records_[static_cast<size_t>(episode.back())].next = number;
  episode.push_back(number);
  records_.push_back({begin, -1, t.episode, t.reward, t.done, t.truncated});
  if (!t.done) return;
  EpisodeRecord& record = episodes_.emplace_back();
  record.transitions = std::move(episode);
  record.truncated = t.truncated;
  for (const int64_t n : record.transitions) {
    record.total += static_cast<double>(records_[static_cast<size_t>(n)].reward);
  }
  open_.erase(t.episode);
}

int64_t TransitionStore::Append(const Transition& transition) {
  const std::string body = Packed(transition);
  const RecordHead head{static_cast<uint32_t>(body.size()), Crc32c(body)};
  std::string record(reinterpret_cast<const char*>(&head), sizeof(head));
  record += body;
  if (!WriteAt(fd_, end_, record)) Fail("write");
  Note(transition, end_);
  end_ += record.size();
  return size() - 1;
}

void TransitionStore::Sync() {
  if (::fsync(fd_) != 0) Fail("sync");
}

std::string TransitionStore::Description() const {
  return fmt::format("{} transitions in {} bytes", size(), end_);
}

Transition TransitionStore::Read(int64_t number) const {
  std::string body;
  if (!ReadBody(fd_, records_[static_cast<size_t>(number)].begin, body)) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: transition {} is damaged: its checksum is wrong. Cure: "
                                 "another --name, which begins a new run",
                                 path_.string(), number));
  }
  return Unpacked(body);
}

}  // namespace agentr
