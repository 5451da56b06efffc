#pragma once

#include <array>
#include <string>
#include <unordered_set>

#include "common/named_values.h"
#include "revision/make/splice.h"

namespace agentr {

enum class Dedup { kOff, kExact, kNear };

inline constexpr std::array<NamedValue<Dedup>, 3> kDedups = {
    {{"off", Dedup::kOff}, {"exact", Dedup::kExact}, {"near", Dedup::kNear}}};

// SHA-256 of the roles, contents and mask of a row's messages.
std::string ContentHash(const Trajectory& trajectory);

// SHA-256 of its events: the first observation, and part and action of each turn, in lower case and
// with single spaces. Rows that differ only in thoughts and wording have the same hash.
std::string ActionsHash(const Trajectory& trajectory);

// Keeps the hashes of the kept rows. Not thread-safe.
class Deduplicator {
 public:
  explicit Deduplicator(Dedup dedup) : dedup_(dedup) {}

  enum class Verdict { kNew, kExact, kNear };

  // Decides whether a row with these hashes occurred before, and records it if not.
  Verdict Check(const std::string& content_hash, const std::string& actions_hash);

 private:
  const Dedup dedup_;
  std::unordered_set<std::string> contents_;
  std::unordered_set<std::string> actions_;
};

}  // namespace agentr
