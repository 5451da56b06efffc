#include "mcts/tree_folder.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/error.h"
#include "common/run_file.h"
#include "common/text.h"
#include "mcts/tree_file.h"
#include "tasks/splits.h"
#include "tasks/task_file.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// The id in "search_results_31.json"; nullopt for other names.
std::optional<int> TaskOf(const fs::path& path) {
  constexpr std::string_view kBegin = "search_results_";
  constexpr std::string_view kEnd = ".json";
  const std::string name = path.filename().string();
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  const auto id =
      std::string_view(name).substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  const std::optional<int> task_id = ParseNumber<int>(id);
  return task_id.value_or(-1) >= 0 ? task_id : std::nullopt;
}

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

std::string TreeFileName(int task_id) { return fmt::format("search_results_{}.json", task_id); }

std::vector<TreeFile> TreeFilesIn(const fs::path& folder) {
  std::vector<TreeFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (const auto task = TaskOf(entry.path())) files.push_back({*task, entry.path()});
  }
  std::ranges::sort(files, {}, &TreeFile::task_id);
  return files;
}

TreeInput FindTrees(const TreeInputOptions& options) {
  if (options.min >= options.max) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--min {} is not below --max {}: this selects no tree",
                                 options.min, options.max));
  }
  TreeInput input;
  input.folder = fs::path(options.input_dir).lexically_normal();
  if (!input.folder.has_filename()) input.folder = input.folder.parent_path();
  if (TreeFilesIn(input.folder).empty()) {
    const std::vector<fs::path> candidates = Candidates(options);
    if (candidates.empty()) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("there is no tree file {}/{}/{}/search_results_ID.json: run "
                                   "mcts_collect first, or name the folder of its results",
                                   options.input_dir, options.task.empty() ? "TASK" : options.task,
                                   options.model_name.empty() ? "MODEL" : options.model_name));
    }
    input.folder = *std::ranges::max_element(candidates, {}, LastWritten);
  }
  input.model = input.folder.filename().string();
  input.task = options.task.empty() ? input.folder.parent_path().filename().string() : options.task;
  UseTaskFileBeside(input.folder, input.task);
  input.files = TreeFilesIn(input.folder);
  std::erase_if(input.files, [&](const TreeFile& file) {
    return file.task_id < options.min || file.task_id >= options.max;
  });
  return input;
}

int64_t LeaveOutTestTasks(TreeInput& input, int64_t tasks) {
  const Split& split = SplitOf(input.task);
  const auto test_ids = std::erase_if(input.files, [&](const TreeFile& file) {
    return split.IsTest(file.task_id) ||
           (tasks > 0 && split.IsTest(static_cast<int>(file.task_id % tasks)));
  });
  if (!input.files.empty()) return static_cast<int64_t>(test_ids);
  throw FatalError(ExitCode::kUsage,
                   fmt::format("no tree is left in {}: trees of test tasks ({} here) are never "
                               "used, and the others are outside of --min and --max",
                               input.folder.string(), test_ids));
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
