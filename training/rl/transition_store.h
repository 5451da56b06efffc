// All transitions of a run in an append-only file, from which training draws and a killed run
// continues.
//
//   PATH.bin   8 bytes "agentrl1", then records: u32 bytes of the body, u32 CRC-32C of it, the body
//
// After a kill the last record may be torn: it is cut off on opening. The index is in memory and is
// made by reading the file once: where each transition is, what follows it, and of which episode it
// is (48 bytes). Tokens are read from the file when they are asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "training/rl/transition.h"

namespace agentr {

// A finished episode.
struct EpisodeRecord {
  double total = 0;  // sum of rewards
  bool truncated = false;
  std::vector<int64_t> transitions;  // in order
};

// Not thread-safe; one process at a time writes.
class TransitionStore {
 public:
  // Opens or makes `path`.bin. Throws FatalError(kFile) for files that cannot be
  // written or are no transitions.
  explicit TransitionStore(const std::filesystem::path& path);
  ~TransitionStore();
  TransitionStore(const TransitionStore&) = delete;
  TransitionStore& operator=(const TransitionStore&) = delete;

  // Returns its number. Throws FatalError(kFile), for example if the disk is full.
  int64_t Append(const Transition& transition);
  // Writes all of it to the disk.
  void Sync();
  // Forgets the transitions from number `count` on, as a continued run does with those after its
  // checkpoint.
  void Truncate(int64_t count);

  int64_t size() const { return static_cast<int64_t>(records_.size()); }
  Transition Read(int64_t number) const;

  // The number of the transition that follows in the same episode; -1: none is known.
  int64_t Next(int64_t number) const { return records_[static_cast<size_t>(number)].next; }
  bool done(int64_t number) const { return records_[static_cast<size_t>(number)].done; }

  // The finished episodes, in the order in which they ended.
  const std::vector<EpisodeRecord>& episodes() const { return episodes_; }

 private:
  struct Record {
    uint64_t begin = 0;
    int64_t next = -1;
    int64_t episode = 0;
    float reward = 0;
    bool done = false;
    bool truncated = false;
  };

  void ReadAll();
  void Note(const Transition& transition, uint64_t begin);
  [[noreturn]] void Fail(const char* doing) const;

  const std::filesystem::path path_;
  int fd_ = -1;
  uint64_t end_ = 0;  // of the last whole record
  std::vector<Record> records_;
  std::vector<EpisodeRecord> episodes_;
  std::map<int64_t, std::vector<int64_t>> open_;  // the transitions of unfinished episodes
};

}  // namespace agentr
