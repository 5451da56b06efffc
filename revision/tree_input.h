// Finds and loads the trees for a run.
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
  std::string model;            // the name of the model's folder
  std::vector<TreeFile> files;  // search_results_<id>.json, by id
};

struct TreeInputOptions {
  std::string input_dir = "mcts_result";
  std::string task = "";        // empty: taken from the newest folder
  std::string style = "";       // of the task (DeclareStyle)
  std::string model_name = "";  // empty: taken from the newest folder
  int min = 0;
  int max = 1000000000;  // exclusive
};

// Looks in `<input_dir>/<task>/<model>`; if task or model are not given, in the most recently
// written folder of this form. If input_dir itself contains tree files, it is used. Throws
// FatalError(kFile) if there is no tree file.
TreeInput FindTrees(const TreeInputOptions& options);

// The tree of the file, with its nodes in depth-first order. Compact files have them in the order of
// creation, Agent-R's files nested; random draws depend on node numbers, so without this order both
// formats would give different rows. Throws FatalError(kFile) for a file that cannot be read, is not
// a tree, contains another task, or has rewards outside [0, 1].
Tree LoadTree(const TreeFile& file, const std::string& family, const std::string& text);

}  // namespace agentr
