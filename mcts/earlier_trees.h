// What is in a folder of trees before a run adds to it.
#pragma once

#include <string>

#include "mcts/search.h"
#include "mcts/tree_store.h"

namespace agentr {

// Looks at every tree of the store. A file that is no whole tree, or that of another task, is moved aside, to `<name>.corrupt`,
// with a warning, so that its task is searched again. Throws FatalError(kUsage) where a tree was
// searched by another model, on a server of other data or, unless `mix_options`, with other options:
// the message names a tree, what differs and the cure. Trees of Agent-R do not tell, and pass.
void CheckEarlierTrees(const FileTreeStore& store, const TreeOrigin& origin,
                       const SearchOptions& search, bool mix_options);

// The options in which two results of ToJson(SearchOptions) differ, in their order, as flags:
// "--iterations 4 there, 8 now; --seed 1 there, 0 now"; empty where they do not.
std::string SearchDifferences(const std::string& there, const std::string& now);

}  // namespace agentr
