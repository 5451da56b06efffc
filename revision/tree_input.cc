#include "revision/tree_input.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/error.h"
#include "common/run_file.h"
#include "mcts/tree_file.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> FoldersIn(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

fs::file_time_type LastWritten(const fs::path& folder) {
  auto last = fs::file_time_type::min();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto time = entry.last_write_time(error);
    if (!error) last = std::max(last, time);
  }
  return last;
}

// The folders that match the options.
std::vector<fs::path> Candidates(const TreeInputOptions& options) {
  std::vector<fs::path> candidates;
  for (const fs::path& task : FoldersIn(options.input_dir)) {
    if (!options.task.empty() && task.filename() != options.task) continue;
    for (const fs::path& model : FoldersIn(task)) {
      const bool wanted =
          options.model_name.empty() ||
          model == ResultFolder(options.input_dir, task.filename().string(), options.model_name);
      if (wanted && !TreeFilesIn(model).empty()) candidates.push_back(model);
    }
  }
  return candidates;
}

}  // namespace

TreeInput FindTrees(const TreeInputOptions& options) {
  TreeInput input;
  input.folder = fs::path(options.input_dir).lexically_normal();
  if (!input.folder.has_filename()) input.folder = input.folder.parent_path();
  if (TreeFilesIn(input.folder).empty()) {
    const std::vector<fs::path> candidates = Candidates(options);
    if (candidates.empty()) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("there is no tree file {}/{}/{}/search_results_ID.json: run "
                                   "mcts_collect first, or give --input_dir",
                                   options.input_dir, options.task.empty() ? "TASK" : options.task,
                                   options.model_name.empty() ? "MODEL" : options.model_name));
    }
    input.folder = *std::ranges::max_element(candidates, {}, LastWritten);
  }
  input.model = input.folder.filename().string();
  input.task = options.task.empty() ? input.folder.parent_path().filename().string() : options.task;
  input.files = TreeFilesIn(input.folder);
  std::erase_if(input.files, [&](const TreeFile& file) {
    return file.task_id < options.min || file.task_id >= options.max;
  });
  return input;
}

Tree LoadTree(const TreeFile& file, const std::string& family, const std::string& text) {
  Tree tree = ReadTree(text, file.path.string()).DepthFirst();
  const auto refuse = [&](const std::string& why) {
    throw FatalError(ExitCode::kFile, fmt::format("{}: {}", file.path.string(), why));
  };
  // Agent-R's files do not contain their task.
  const TreeOrigin& origin = tree.origin();
  if (!origin.family.empty() && (origin.family != family || origin.task_id != file.task_id)) {
    refuse(fmt::format("contains {} task {}", origin.family, origin.task_id));
  }
  for (const Node& node : tree.nodes()) {
    if (node.end == End::kNone || (node.reward >= 0 && node.reward <= 1)) continue;
    refuse(fmt::format("has the reward {}, which is not in [0, 1]", node.reward));
  }
  return tree;
}

}  // namespace agentr
