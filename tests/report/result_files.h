// Small results on disk, as the programs write them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "mcts/tree.h"
#include "rollout/episode.h"

namespace agentr {

// A textcraft tree of task `task`: the root has a refused action (node 1), an action that works
// (node 2) with a good end (3) and a bad one (4).
Tree SmallTree(int task, const std::string& observation = "Goal: craft stick.");
void WriteSmallTree(const std::filesystem::path& folder, const Tree& tree);

// A finished episode of one turn, which slips if `slip` is set.
void WriteSmallEpisode(const std::filesystem::path& folder, int task, double reward,
                       const std::optional<Slip>& slip = {});

// One row of the tree of task 7 in `folder`, from the trees in `trees`, in the format messages.
void WriteSmallRows(const std::filesystem::path& folder, const std::string& trees);

}  // namespace agentr
