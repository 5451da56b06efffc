#include "rl/trees/tree_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/json_depth.h"
#include "common/json_lenient.h"
#include "revision/find/states.h"
#include "rl/trees/episode_tree.h"
#include "rl/trees/preference_file.h"
#include "tasks/splits.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

// Few enough that a step sees several tasks, enough that prompts are shared.
constexpr size_t kStretch = 8;

class TreeDataReader {
 public:
  TreeDataReader(const TreeDataOptions& options, TreeAlgorithmKind kind, const RowTokenizer& text)
      : options_(options), kind_(kind), encoder_(text, options.max_length) {}

  TreeData OfPlayed(const std::vector<Tree>& trees) {
    played_ = true;
    for (const Tree& tree : trees) {
      if (family_ == nullptr) family_ = MakeTaskFamily(tree.origin().family);
      ReadOne(tree, tree.origin().task_id);
    }
    data_.counts.items = static_cast<int64_t>(data_.items.size());
    return std::move(data_);
  }

  TreeData Read() {
    const std::string place = !options_.pairs.empty()     ? ReadPairs()
                              : options_.episodes.empty() ? ReadTrees().string()
                                                          : ReadEpisodeGroups().string();
    data_.counts.items = static_cast<int64_t>(data_.items.size());
    if (data_.items.empty()) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("nothing can be learned from what is in {}: {}", place,
                                   fmt::join(WhyNothing(), "; ")));
    }
    data_.hash = Hash();
    return std::move(data_);
  }

 private:
  // Returns the folder that was read.
  std::filesystem::path ReadTrees() {
    TreeInput input = FindTrees(options_.input);
    const Split& split = SplitOf(input.task);
    family_ = MakeTaskFamily(input.task);
    for (const TreeFile& file : input.files) {
      if (split.IsTest(file.task_id)) {
        ++test_tasks_;
        continue;
      }
      ReadOne(LoadTree(file, input.task, ReadFile(file.path)), file.task_id);
    }
    return input.folder;
  }

  std::string ReadPairs() {
    for (const std::string& file : options_.pairs) {
      for (const WrittenPreference& pair : ReadPreferences(file)) {
        AddPair(encoder_.Encode(pair.prompt, pair.chosen),
                encoder_.Encode(pair.prompt, pair.rejected));
      }
    }
    return fmt::format("{}", fmt::join(options_.pairs, ", "));
  }

  std::filesystem::path ReadEpisodeGroups() {
    std::filesystem::path folder = std::filesystem::path(options_.episodes).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    const std::string task = options_.input.task.empty() ? folder.parent_path().filename().string()
                                                         : options_.input.task;
    family_ = MakeTaskFamily(task);
    const Split& split = SplitOf(task);
    for (const Tree& tree : ReadEpisodeTrees(folder, task)) {
      const bool test = split.IsTest(tree.origin().task_id), alone = tree.root().visits == 1;
      test_tasks_ += test ? 1 : 0;
      alone_ += alone ? 1 : 0;
      if (!test && !alone) ReadOne(tree, tree.origin().task_id);
    }
    return folder;
  }

  // With the usual cures.
  std::vector<std::string> WhyNothing() const {
    const bool groups = !options_.episodes.empty();
    std::vector<std::string> reasons;
    if (test_tasks_ > 0) {
      reasons.push_back(fmt::format(
          "{} of its tasks are test tasks, from which nothing may be learned (usual cure: {})",
          test_tasks_,
          groups ? "episodes of agent_eval --split train" : "a search of other tasks"));
    }
    if (alone_ > 0) {
      reasons.push_back(
          fmt::format("{} of its tasks have one episode, which is no group (usual cure: agent_eval "
                      "--attempts 8)",
                      alone_));
    }
    if (data_.counts.too_long > 0) {
      reasons.push_back(fmt::format("{} preferences are longer than --max_length {}",
                                    data_.counts.too_long, options_.max_length));
    }
    if (data_.counts.trees > 0) reasons.push_back(WhyNotFromTrees());
    if (reasons.empty()) reasons.emplace_back("it has no task from --min_task up to --max_task");
    return reasons;
  }

  std::string WhyNotFromTrees() const {
    constexpr const char* kCure = "usual cure: more trees, or a search with more --iterations";
    const int64_t trees = data_.counts.trees;
    if (kind_ == TreeAlgorithmKind::kDpo) {
      return fmt::format(
          "in {} trees, of {} pairs of siblings none is a preference ({} have few visits, {} "
          "nearly equal values; {})",
          trees, data_.preferences.siblings, data_.preferences.uncertain, data_.preferences.close,
          kCure);
    }
    return fmt::format("the episodes in {} trees all have the same reward, or are too long ({})",
                       trees, kCure);
  }

  void ReadOne(const Tree& tree, int task_id) {
    const auto search = ParseJson<nlohmann::ordered_json>(tree.origin().search);
    const double temperature = search.is_object() ? FieldOr(search, "temperature", 1.0) : 1.0;
    if (temperature != 1) data_.temperature = temperature;
    ++data_.counts.trees;
    data_.counts.nodes += tree.size() - 1;
    in_stretch_ = 0;
    switch (kind_) {
      case TreeAlgorithmKind::kDpo:
        return AddPreferences(tree, task_id);
      case TreeAlgorithmKind::kAwr:
        return AddResponses(tree, StepAdvantages(tree));
      case TreeAlgorithmKind::kTreeGrpo:
        return AddResponses(tree, GroupAndStepAdvantages(tree));
    }
  }

  std::vector<double> GroupAndStepAdvantages(const Tree& tree) const {
    std::vector<double> advantages = TreeGroupAdvantages({&tree}, options_.divide_by_std)[0];
    if (options_.step_advantage == 0) return advantages;
    const std::vector<double> of_steps =
        TreeStepAdvantages({&tree}, StateKeys({&tree}, *family_), options_.gamma,
                           options_.divide_by_std, options_.step_return)[0];
    for (size_t i = 0; i < advantages.size(); ++i) {
      advantages[i] += options_.step_advantage * of_steps[i];
    }
    return advantages;
  }

  void AddPreferences(const Tree& tree, int task_id) {
    const std::vector<Preference> pairs = LimitPreferences(
        FindPreferences(tree, StateMap(tree, *family_), *family_, options_.preferences,
                        data_.preferences),
        options_.max_pairs_per_task,
        RandomStream(options_.seed).Split("preferences").Split(static_cast<uint64_t>(task_id)),
        data_.preferences);
    for (const Preference& pair : pairs) {
      AddPair(encoder_.Encode(tree, pair.chosen.node), encoder_.Encode(tree, pair.rejected.node));
    }
  }

  void AddPair(std::optional<TreeResponse> chosen, std::optional<TreeResponse> rejected) {
    if (!chosen || !rejected) {
      ++data_.counts.too_long;
      return;
    }
    AddItem({std::move(*chosen), std::move(*rejected)});
  }

  void AddResponses(const Tree& tree, const std::vector<double>& advantages) {
    for (int node = 1; node < tree.size(); ++node) {
      const bool needs_signal = kind_ == TreeAlgorithmKind::kTreeGrpo;
      const bool punishes = needs_signal && options_.overlong == Overlong::kPunish;
      double advantage = advantages[static_cast<size_t>(node)];
      const bool known = !tree.node(node).response.empty() || !tree.node(node).token_ids.empty();
      const bool said = known && !tree.node(node).slip;
      if (!said || tree.node(node).visits == 0 || (needs_signal && !punishes && advantage == 0)) {
        ++data_.counts.no_signal;
        continue;
      }
      auto response = encoder_.Encode(tree, node);
      if (!response) {
        ++data_.counts.too_long;
        continue;
      }
      if (punishes && response->cut) advantage -= kOverlongPunishment;
      const bool masked = options_.overlong == Overlong::kMask && response->cut;
      const bool unknown = played_ && response->sampled.empty();
      if (unknown || (needs_signal && (masked || advantage == 0))) {
        ++data_.counts.no_signal;
        continue;
      }
      response->advantage = advantage;
      if (played_) response->row.weight = static_cast<float>(tree.node(node).visits);
      std::vector<TreeResponse> alone;
      alone.push_back(std::move(*response));
      AddItem(std::move(alone));
    }
  }

  void AddItem(std::vector<TreeResponse> responses) {
    if (in_stretch_ == 0) data_.stretches.push_back(data_.items.size());
    in_stretch_ = (in_stretch_ + 1) % kStretch;
    std::vector<size_t>& item = data_.items.emplace_back();
    for (TreeResponse& response : responses) {
      item.push_back(data_.responses.size());
      data_.responses.push_back(std::move(response));
    }
  }

  std::string Hash() const {
    std::string bytes;
    const auto add = [&](const auto& values) {
      using Value = std::ranges::range_value_t<decltype(values)>;
      bytes.append(reinterpret_cast<const char*>(std::data(values)),
                   std::size(values) * sizeof(Value));
      bytes += '|';
    };
    for (const TreeResponse& response : data_.responses) {
      add(response.row.ids);
      add(response.sampled);
      bytes += fmt::format("{} {} {}\n", response.row.trained[0].begin, response.advantage,
                           response.row.weight);
    }
    for (const std::vector<size_t>& item : data_.items) add(item);
    return Sha256(bytes);
  }

  const TreeDataOptions& options_;
  const TreeAlgorithmKind kind_;
  const TreeRowEncoder encoder_;
  std::unique_ptr<TaskFamily> family_;
  bool played_ = false;
  TreeData data_;
  size_t in_stretch_ = 0;
  int64_t test_tasks_ = 0, alone_ = 0;  // left out; `alone_`: tasks with one episode
};

}  // namespace

TreeData PlayedTreeData(const std::vector<Tree>& trees, const TreeDataOptions& options,
                        const RowTokenizer& text) {
  return TreeDataReader(options, TreeAlgorithmKind::kTreeGrpo, text).OfPlayed(trees);
}

TreeData ReadTreeData(const TreeDataOptions& options, TreeAlgorithmKind kind,
                      const RowTokenizer& text) {
  return TreeDataReader(options, kind, text).Read();
}

}  // namespace agentr
