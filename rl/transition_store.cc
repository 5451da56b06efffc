#include "rl/transition_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/error.h"
#include "common/file.h"
#include "training/tensorboard.h"

namespace agentr {
namespace {

constexpr std::string_view kMagic = "agentrl2", kFirstMagic = "agentrl1";
constexpr size_t kHashDigits = 64;
constexpr size_t kHeaderBytes = kMagic.size() + kHashDigits + sizeof(uint32_t);
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
  bool empty() const { return bytes_.empty(); }
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
    if (count > bytes_.size()) throw std::length_error("shorter than its fields");
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }

  std::string_view bytes_;
};

// Calls `on` with every field, so that writing and reading cannot differ.
template <typename T, typename On>
void ForEachField(T& t, const On& on) {
  on(t.episode), on(t.slot), on(t.step), on(t.prompt), on(t.choice.text), on(t.choice.tokens),
      on(t.choice.logprobs);
  on(t.choice.listed), on(t.choice.value), on(t.weights_version), on(t.reward), on(t.done),
      on(t.truncated);
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
  if (!body.empty()) throw std::length_error("longer than its fields");
  return transition;
}

// What is wrong with the ids of a prompt or an action; empty: nothing.
std::string FaultOfIds(const char* of, const std::vector<int32_t>& ids, int64_t vocabulary) {
  if (vocabulary == 0) return "";
  if (ids.empty()) return fmt::format("has no tokens in its {}", of);
  const auto bad =
      std::ranges::find_if(ids, [&](int32_t id) { return id < 0 || id >= vocabulary; });
  if (bad == ids.end()) return "";
  return fmt::format("has the token id {} in its {}, but the model has the ids 0 to {}", *bad, of,
                     vocabulary - 1);
}

// What is wrong with a transition; empty: nothing.
std::string FaultOf(const Transition& t, int64_t vocabulary) {
  if (!std::isfinite(t.reward)) return fmt::format("has a reward of {}", t.reward);
  if (!std::isfinite(t.choice.value)) return fmt::format("has a value of {}", t.choice.value);
  for (const float logprob : t.choice.logprobs) {
    if (!std::isfinite(logprob)) return fmt::format("has a log-probability of {}", logprob);
  }
  const std::string fault = FaultOfIds("prompt", t.prompt, vocabulary);
  return fault.empty() ? FaultOfIds("action", t.choice.tokens, vocabulary) : fault;
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

// The record at `begin`; false if it is not whole.
bool ReadRecord(int fd, uint64_t begin, RecordHead& head, std::string& body) {
  if (!ReadAt(fd, begin, &head, sizeof(head))) return false;
  if (head.bytes == 0 || head.bytes > kMostBytes) return false;
  body.resize(head.bytes);
  return ReadAt(fd, begin + sizeof(head), body.data(), head.bytes) && Crc32c(body) == head.crc;
}

}  // namespace

TransitionStore::TransitionStore(const std::filesystem::path& path, const TokenSpace& tokens,
                                 int64_t count)
    : path_(path.string() + ".bin"), tokens_(tokens) {
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path());
  Open(O_RDWR | O_CREAT);
  const std::optional<std::string> recorded = ReadHeader();
  if (recorded && count > 0) RefuseOtherTokenizer(*recorded);
  ReadRecords(count);
  if (size() < count) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: only {} of the {} transitions of the checkpoint are whole. "
                                 "Cure: another --name, which begins a new run",
                                 path_.string(), size(), count));
  }
  if (size() == 0) WriteHeader();
  if (::ftruncate(fd_, static_cast<off_t>(end_)) != 0) {
    Fail("cut off what is behind the checkpoint");
  }
}

TransitionStore::TransitionStore(const std::filesystem::path& path, const TokenSpace& tokens)
    : path_(path.extension() == ".bin" ? path.string() : path.string() + ".bin"), tokens_(tokens) {
  Open(O_RDONLY);
  if (const std::optional<std::string> recorded = ReadHeader()) RefuseOtherTokenizer(*recorded);
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

void TransitionStore::Fail(const char* doing) const {
  throw FatalError(ExitCode::kFile, fmt::format("{}: cannot {}: {}. Usual cure: free space on the "
                                                "disk, or another folder",
                                                path_.string(), doing, std::strerror(errno)));
}

// Returns the hash of the tokenizer, or blanks, and finds out the version; the records begin at
// end_. nullopt: an earlier release has not noted it, or the file is new or its first write was
// torn.
std::optional<std::string> TransitionStore::ReadHeader() {
  std::string header(kHeaderBytes, '\0');
  end_ = kHeaderBytes;
  if (!ReadAt(fd_, 0, header.data(), kMagic.size())) return std::nullopt;
  if (header.starts_with(kFirstMagic)) {
    version_ = 1;
    end_ = kFirstMagic.size();
    return std::nullopt;
  }
  if (!header.starts_with(kMagic)) {
    throw FatalError(ExitCode::kFile, path_.string() + " contains no transitions of agent_rl");
  }
  if (!ReadAt(fd_, 0, header.data(), header.size())) return std::nullopt;
  const std::string_view described =
      std::string_view(header).substr(0, kMagic.size() + kHashDigits);
  uint32_t crc = 0;
  std::memcpy(&crc, header.data() + described.size(), sizeof crc);
  if (crc != Crc32c(described)) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: its first {} bytes are damaged. Cure: another --name, which "
                                 "begins a new run, or other --transitions",
                                 path_.string(), kHeaderBytes));
  }
  return std::string(described.substr(kMagic.size()));
}

void TransitionStore::WriteHeader() {
  version_ = 2;
  end_ = kHeaderBytes;
  std::string header = std::string(kMagic) + tokens_.tokenizer;
  header.resize(kMagic.size() + kHashDigits, ' ');
  const uint32_t crc = Crc32c(header);
  header.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  if (!WriteAt(fd_, 0, header)) Fail("write");
}

void TransitionStore::RefuseOtherTokenizer(const std::string& recorded) const {
  std::string own = tokens_.tokenizer;
  own.resize(kHashDigits, ' ');
  if (recorded == own) return;
  if (recorded.starts_with(' ')) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("{} was recorded without a language model, so that there are no "
                                 "token ids in it. Cure: record with --algorithm play and this "
                                 "--model_dir",
                                 path_.string()));
  }
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("{} was recorded with another tokenizer than that of --model_dir (its "
                  "hash begins with {:.8}, not {:.8}). Cure: a --model_dir with the "
                  "tokenizer that recorded it, or play again with this one",
                  path_.string(), recorded, own));
}

Transition TransitionStore::Checked(const std::string& body, int64_t number) const {
  std::string fault;
  try {
    Transition transition = Unpacked(body);
    fault = FaultOf(transition, tokens_.vocabulary);
    if (fault.empty()) return transition;
  } catch (const std::length_error& error) {
    fault = fmt::format("is {}", error.what());
  }
  throw FatalError(
      ExitCode::kFile,
      fmt::format("{}: transition {} {}: nothing can be learned from it. Usual causes: "
                  "another model or a training that had diverged has recorded it. Cure: "
                  "record again, with another --name",
                  path_.string(), number, fault));
}

// The first `most` records, or as many as are whole.
void TransitionStore::ReadRecords(int64_t most) {
  RecordHead head;
  for (std::string body; size() < most && ReadRecord(fd_, end_, head, body);) {
    Note(Checked(body, size()), end_, head.crc);
    end_ += sizeof(RecordHead) + body.size();
  }
}

void TransitionStore::Note(const Transition& t, uint64_t begin, uint32_t crc) {
  const uint32_t both[] = {checksum_, crc};
  checksum_ = Crc32c({reinterpret_cast<const char*>(both), sizeof both});
  const int64_t number = size();
  std::vector<int64_t>& episode = open_[t.episode];
  if (!episode.empty()) records_[static_cast<size_t>(episode.back())].next = number;
  episode.push_back(number);
  records_.push_back({begin, -1, t.reward, t.done});
  if (!t.done) return;
  EpisodeRecord& record = episodes_.emplace_back();
  record.transitions = std::move(episode);
  for (const int64_t n : record.transitions) {
    record.total += static_cast<double>(records_[static_cast<size_t>(n)].reward);
  }
  open_.erase(t.episode);
}

int64_t TransitionStore::Append(const Transition& transition) {
  if (const std::string fault = FaultOf(transition, tokens_.vocabulary); !fault.empty()) {
    throw FatalError(ExitCode::kInternal,
                     fmt::format("the transition by the action \"{}\" {}, and is not recorded: a "
                                 "fault of the environment or the player",
                                 transition.choice.text, fault));
  }
  const std::string body = Packed(transition);
  const RecordHead head{static_cast<uint32_t>(body.size()), Crc32c(body)};
  std::string record(reinterpret_cast<const char*>(&head), sizeof(head));
  record += body;
  if (!WriteAt(fd_, end_, record)) Fail("write");
  Note(transition, end_, head.crc);
  end_ += record.size();
  return size() - 1;
}

void TransitionStore::Sync() {
  if (::fsync(fd_) != 0) Fail("sync");
}

std::string TransitionStore::Description() const {
  const std::string text = fmt::format("{} transitions in {} bytes", size(), end_);
  return tokenizer_known() ? fmt::format("{}, checksum {:08x}", text, checksum_) : text;
}

Transition TransitionStore::Read(int64_t number) const {
  RecordHead head;
  std::string body;
  if (!ReadRecord(fd_, records_[static_cast<size_t>(number)].begin, head, body)) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: transition {} is damaged: its checksum is wrong. Cure: "
                                 "another --name, which begins a new run",
                                 path_.string(), number));
  }
  return Checked(body, number);
}

}  // namespace agentr
