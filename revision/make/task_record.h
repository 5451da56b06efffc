// Records the decisions about the pairs of one tree that needed calls outside the process:
// judgements of a model, and replays. There is one file per task, so that a killed run does not
// repeat the calls.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "revision/find/first_error.h"
#include "revision/find/pairing.h"
#include "revision/make/counts.h"
#include "revision/make/replay.h"
#include "revision/make/splice.h"

namespace agentr {

struct Decision {
  PathPair pair;
  FirstError error;
  std::string mistake =
      "";                // RevisionHints::MistakeName of the first error; "" for a good path alone
  bool refused = false;  // the first error is an action that the environment refused
  int evidence = 0;      // ended leaves after it in the tree
  std::vector<SplicedTurn> turns = {};  // turns of the row, with the observations of the tree
  Replay replay = {};
  int pruned = 0;    // turns left out of the paths
  int recovery = 0;  // recovery actions among the turns

  bool operator==(const Decision&) const = default;
};

// `key` identifies everything on which the decisions depend; of `counts`, kDecidingSums are kept.
// Throws FatalError(kFile).
void WriteRecord(const std::filesystem::path& path, const std::string& key,
                 const std::vector<Decision>& decisions, const RevisionCounts& counts);

// nullopt if there is no such file, or if it has another key or is no record. `tree` is the origin
// of the rows' turns. `counts` gets what was counted when the decisions were made.
std::optional<std::vector<Decision>> ReadRecord(const std::filesystem::path& path,
                                                const std::string& key, const Tree& tree,
                                                RevisionCounts& counts);

}  // namespace agentr
