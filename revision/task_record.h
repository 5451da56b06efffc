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
#include "revision/splice.h"

namespace agentr {

struct Decision {
  PathPair pair;
  FirstError error;
  std::string mistake = "";  // TaskFamily::MistakeName of the first error; "" for a good path alone
  bool refused = false;      // the first error is an action that the environment refused
  int evidence = 0;          // ended leaves behind it in the tree
  std::vector<SplicedTurn> turns = {};  // of the row, with the observations of the tree
  Replay replay = {};
  int pruned = 0;    // turns of the paths that were left out
  int recovery = 0;  // recovery actions among the turns

  bool operator==(const Decision&) const = default;
};

// `key` names everything that the decisions depend on. Throws FatalError(kFile).
void WriteRecord(const std::filesystem::path& path, const std::string& key,
                 const std::vector<Decision>& decisions);

// Nothing where there is no such file, or one with another key or of another program. `tree`: what
// the turns of the rows come from.
std::optional<std::vector<Decision>> ReadRecord(const std::filesystem::path& path,
                                                const std::string& key, const Tree& tree);

}  // namespace agentr
