// Which trees a run works on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mcts/tree.h"
#include "mcts/tree_store.h"

namespace agentr {

struct TreeInput {
  std::filesystem::path folder;
  std::string task;             // the kind of task: "webshop"
  std::string model;            // the name of the folder
  std::vector<TreeFile> files;  // search_results_<id>.json, by id
};

struct TreeInputOptions {
  std::string input_dir = "mcts_result";
  std::string task = "";        // empty: that of the newest folder
  std::string model_name = "";  // empty: that of the newest folder
  int min = 0;
  int max = 1000000000;  // exclusive
};

// Looks in `<input_dir>/<task>/<model>`; where task or model are not given, in the folder of this
// shape in which anything was written last. An input_dir that holds tree files is taken itself.
// Throws FatalError(kFile) when there is no tree file at all.
TreeInput FindTrees(const TreeInputOptions& options);

// The tree of the file, which must be of that task, its nodes depth first: compact files have them as
// they were made, those of Agent-R nested, and rows, whose random draws go by the nodes, shall not
// depend on that. Throws FatalError(kFile) for a file that cannot
// be read, is no tree, holds another task, or has rewards outside [0, 1].
Tree LoadTree(const TreeFile& file, const std::string& family, const std::string& text);

}  // namespace agentr
