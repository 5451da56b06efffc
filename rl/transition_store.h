// All transitions of a run in an append-only file, from which training draws and a killed run
// continues.
//
//   PATH.bin   8 bytes "agentrl2"; 64 bytes, the SHA-256 of the tokenizer or blanks; u32 CRC-32C of
//              these; then records: u32 bytes of the body, u32 CRC-32C of it, the body
//
// Token ids mean something with their tokenizer only, so a reader must have the same. Earlier
// releases wrote "agentrl1" and the records, without the tokenizer; such files can be read and
// continued. Each transition is checked when it is recorded and when it is read: its ids are ids of
// the model, its prompt and its action are not empty, its numbers are finite.
//
// What is behind the transitions of the last checkpoint, after a kill perhaps a torn record, is cut
// off when the run continues. The index is in memory and is made by reading the file once: where
// each transition is, what follows it, and of which episode it is (32 bytes). Tokens are read from
// the file when they are asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rl/transition.h"

namespace agentr {

// What the token ids of a store mean.
struct TokenSpace {
  std::string tokenizer = "";  // SHA-256 of its tokenizer.json; empty: there are no ids
                               // (symbolic_ppo), or in a file it is not known
  int64_t vocabulary = 0;      // ids are 0 … vocabulary - 1; 0: there are none
};

// A finished episode.
struct EpisodeRecord {
  double total = 0;                  // sum of rewards
  std::vector<int64_t> transitions;  // in order
};

// Not thread-safe; one process at a time writes.
class TransitionStore {
 public:
  // The store of a run: opens or makes `path`.bin with its first `count` transitions, those of the
  // checkpoint, and forgets all others. Throws FatalError without a change to the file: kFile if it
  // has fewer that are whole, cannot be written, is something else, or has a transition that the
  // check refuses; kUsage if they have another tokenizer.
  TransitionStore(const std::filesystem::path& path, const TokenSpace& tokens, int64_t count);
  // The whole transitions of another run, to be read only; `path` with or without ".bin". Throws
  // FatalError likewise, and kFile if there are none.
  TransitionStore(const std::filesystem::path& path, const TokenSpace& tokens);
  TransitionStore(const TransitionStore&) = delete;
  TransitionStore& operator=(const TransitionStore&) = delete;

  // Returns its number. Throws FatalError: kFile, for example if the disk is full; kInternal if the
  // check refuses the transition.
  int64_t Append(const Transition& transition);
  // Writes all of it to the disk.
  void Sync();

  int64_t size() const { return static_cast<int64_t>(records_.size()); }
  // Distinguishes stores: how many transitions they have, in how many bytes, and (not for files of
  // earlier releases) a checksum of all.
  std::string Description() const;
  // False: an earlier release has recorded them without their tokenizer.
  bool tokenizer_known() const { return version_ > 1; }
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
    float reward = 0;
    bool done = false;
  };

  void Open(int flags);
  std::optional<std::string> ReadHeader();
  void WriteHeader();
  void ReadRecords(int64_t most);
  Transition Checked(const std::string& body, int64_t number) const;
  void RefuseOtherTokenizer(const std::string& recorded) const;
  void Note(const Transition& transition, uint64_t begin, uint32_t crc);
  [[noreturn]] void Fail(const char* doing) const;

  const std::filesystem::path path_;
  const TokenSpace tokens_;
  // The open file; closed also where the constructor throws.
  struct Descriptor {
    ~Descriptor();
    operator int() const { return number; }
    int number = -1;
  } fd_;
  int version_ = 2;        // of the file
  uint64_t end_ = 0;       // of the last whole record
  uint32_t checksum_ = 0;  // over the checksums of all records
  std::vector<Record> records_;
  std::vector<EpisodeRecord> episodes_;
  std::map<int64_t, std::vector<int64_t>> open_;  // the transitions of unfinished episodes
};

}  // namespace agentr
