// What was decided about the pairs of one tree with calls outside the process: judgements of a
// model, replays. Kept in a file per task, so that a run that was killed does not ask again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "revision/first_error.h"
#include "revision/pairing.h"
#include "revision/replay.h"

namespace agentr {

struct Decision {
  PathPair pair;
  FirstError error;
  Replay replay;

  bool operator==(const Decision&) const = default;
};

// `key` names everything that the decisions depend on. Throws FatalError(kFile).
void WriteRecord(const std::filesystem::path& path, const std::string& key,
                 const std::vector<Decision>& decisions);

// Nothing where there is no such file, or one with another key or of another program.
std::optional<std::vector<Decision>> ReadRecord(const std::filesystem::path& path,
                                                const std::string& key);

}  // namespace agentr
