// Groups of episodes as search trees, so that GRPO on episodes is the same as on trees: the
// episodes of one task that begin with the same turns share the nodes of these turns.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mcts/tree.h"
#include "rollout/episode.h"

namespace agentr {

// `episodes`: of one task. Every episode is an ended leaf with its reward; one that was not done
// ends as at the depth limit. A cut turn whose token ids are known, as they are until an episode is
// stored, is a node too. So is that of an episode without other turns, whose reward must count: if
// its ids are not known, the node has neither ids nor a response. `played`: the options of the
// episodes as a JSON object, which take the place of a search's.
Tree TreeOfEpisodes(const std::string& family, const std::vector<Episode>& episodes,
                    const std::string& played = "{}");

// A tree for each task with episodes in `folder`, which agent_eval has written
// (OUTPUT_DIR/TASK/MODEL_local, with --attempts); by task. Its root has as many visits as there are
// episodes. Throws FatalError(kFile), and kUsage for episodes with slips, in which the model did
// not say what is shown.
std::vector<Tree> ReadEpisodeTrees(const std::filesystem::path& folder, const std::string& family);

}  // namespace agentr
