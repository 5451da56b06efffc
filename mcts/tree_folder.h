// The tree files in a folder: their names, and finding and loading those for a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "mcts/tree.h"

namespace agentr {

// A file search_results_<task>.json.
struct TreeFile {
  int task_id = 0;
  std::filesystem::path path;
};

// "search_results_31.json".
std::string TreeFileName(int task_id);

// The tree files in `folder`, by task; empty if there is no such folder.
std::vector<TreeFile> TreeFilesIn(const std::filesystem::path& folder);

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
  std::string file = "";        // of the task (DeclareTaskFile)
  std::string model_name = "";  // empty: taken from the newest folder
  int min = 0;
  int max = 1000000000;  // exclusive
};

// Looks in `<input_dir>/<task>/<model>`; if task or model are not given, in the most recently
// written folder of this form. If input_dir itself contains tree files, it is used. Throws
// FatalError: kFile if there is no tree file, kUsage if min is not below max.
TreeInput FindTrees(const TreeInputOptions& options);

// Leaves out the trees of test tasks, which nothing may be trained on, and returns their number.
// `tasks`: the environment's number of tasks (0 if unknown); larger ids name the first tasks again.
// Throws FatalError(kUsage) if no tree is left.
int64_t LeaveOutTestTasks(TreeInput& input, int64_t tasks = 0);

// The tree of the file, with its nodes in depth-first order. Compact files have them in the order
// of creation, Agent-R's files nested; random draws depend on node numbers, so without this order
// both formats would give different rows. Throws FatalError(kFile) for a file that cannot be read,
// is not a tree, contains another task, or has rewards outside [0, 1].
Tree LoadTree(const TreeFile& file, const std::string& family, const std::string& text);

}  // namespace agentr
