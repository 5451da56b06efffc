// Checks the trees that a folder already contains before a run adds to it.
#pragma once

#include <string>
#include <string_view>

#include "mcts/search.h"
#include "mcts/tree_store.h"

namespace agentr {

// What all trees of a run have in common, as text, and the origin that it contains (without a task;
// empty for any other text).
std::string CommonText(const TreeOrigin& origin, const SearchOptions& search);
TreeOrigin CommonOrigin(const std::string& text);

// Reads every tree of the store. A file that is not a complete tree, or is that of another task, is
// renamed to `<name>.corrupt` with a warning, so that its task is searched again. Throws
// FatalError(kUsage) if a tree was searched by another model, on a server with other data or,
// unless `mix_options`, with other options: the message names a tree, the difference and the cure.
// Agent-R's own trees do not contain this information and are accepted. A run that searches into
// the folder at this moment is compared in the same way, even if it has not written a tree yet.
void CheckEarlierTrees(const FileTreeStore& store, const TreeOrigin& origin,
                       const SearchOptions& search, bool mix_options);

// The reason why a run of `origin`, with options `search` (ToJson), must not add to trees of
// `there`, with a cure that names `elsewhere`, the option for another place; empty if it may.
std::string TreeMisfit(const TreeOrigin& there, const TreeOrigin& origin, const std::string& search,
                       bool mix_options, const std::string& elsewhere);

// The hash of the task file, which stands behind a "+" in the data's hash if the kind of task is
// one's own; empty if it is not.
std::string_view TaskFileHash(std::string_view data_hash);

// The differences between two results of ToJson(SearchOptions), in their order, as flags:
// "--iterations 4 there, 8 now; --seed 1 there, 0 now"; empty if there are none.
std::string SearchDifferences(const std::string& there, const std::string& now);

}  // namespace agentr
