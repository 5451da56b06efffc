#include <algorithm>
#include <unordered_map>

#include "common/error.h"
#include "common/file.h"
#include "mcts/tree_file.h"
#include "mcts/tree_folder.h"
#include "report/report_parts.h"
#include "revision/find/states.h"
#include "tasks/task_file.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

// Each different text once: observations of a tree repeat, and so do actions.
class TextTable {
 public:
  int Index(const std::string& text) {
    const auto [at, added] = index_.try_emplace(text, static_cast<int>(texts_.size()));
    if (added) texts_.push_back(text);
    return at->second;
  }
  Json Take() { return std::move(texts_); }

 private:
  std::unordered_map<std::string, int> index_;
  Json texts_ = Json::array();
};

int NumberOf(End end) {
  switch (end) {
    case End::kNone:
      return 0;
    case End::kDone:
      return 1;
    case End::kDisaster:
      return 2;
    case End::kDepth:
      return 3;
    case End::kCut:
      return 4;
  }
  return 0;
}

Json Messages(const std::vector<Message>& messages) {
  Json list = Json::array();
  for (const Message& message : messages) list.push_back({message.role, message.content});
  return list;
}

// The nodes by columns, which compress better than objects.
Json TreeItem(const Tree& tree, const TaskFamily& family) {
  const StateMap states(tree, family);
  TextTable texts;
  Json item = {{"task", tree.origin().task_id}, {"model", tree.origin().model}};
  for (const char* column : {"parent", "action", "response", "observation", "reward", "visits",
                             "value", "end", "flags", "dropped", "said"}) {
    item[column] = Json::array();
  }
  for (int i = 0; i < tree.size(); ++i) {
    const Node& node = tree.node(i);
    item["parent"].push_back(node.parent);
    item["action"].push_back(texts.Index(node.action));
    item["response"].push_back(
        texts.Index(WithThought({"assistant", node.response, node.reasoning})));
    item["observation"].push_back(texts.Index(node.observation));
    item["reward"].push_back(node.reward);
    item["visits"].push_back(node.visits);
    item["value"].push_back(node.mean());
    item["end"].push_back(NumberOf(node.end));
    item["flags"].push_back((states.Changed(i) ? 0 : 1) + (states.Refused(i) ? 2 : 0));
    item["dropped"].push_back(node.dropped_turns);
    // What the model said, where the turn slipped (rollout/slips.h).
    item["said"].push_back(node.slip ? texts.Index(node.slip->said) : -1);
  }
  item["texts"] = texts.Take();
  return item;
}

Json IndexLine(const Tree& tree, int task, PackedItems::Place place) {
  const auto leaves =
      std::ranges::count_if(tree.nodes(), [](const Node& n) { return n.end != End::kNone; });
  const auto failed = std::ranges::count_if(
      tree.nodes(), [](const Node& n) { return n.end != End::kNone && n.reward <= 0; });
  return {task,
          tree.size(),
          leaves,
          std::ranges::max(tree.nodes(), {}, &Node::depth).depth,
          std::ranges::max(tree.nodes(), {}, &Node::reward).reward,
          tree.root().mean(),
          place.block,
          place.at,
          failed};
}

// The kind of task of the trees in the folder `<task>/<model>`.
std::string FamilyOf(const std::filesystem::path& folder, const std::string& text,
                     const std::string& name) {
  const std::string written = ReadTree(text, name).origin().family;
  return written.empty() ? folder.parent_path().filename().string() : written;
}

}  // namespace

Json SearchPart(const RunResult& result, const ReportLimits& limits, PackedItems& items) {
  Json part = CommonPart(result, (result.path / "run.json").string(),
                         (result.path / "resolved.toml").string(), items);
  const std::vector<TreeFile> files = TreeFilesIn(result.path);
  part["total"] = files.size();
  part["data"] = "";
  part["instructions"] = part["trees"] = part["files"] = Json::array();
  std::unique_ptr<TaskFamily> family;
  for (const size_t i : Spread(files.size(), limits.trees)) {
    try {
      const std::string name = files[i].path.string();
      const std::string text = ReadFile(files[i].path);
      if (family == nullptr) {
        const std::string of = FamilyOf(result.path, text, name);
        UseTaskFileBeside(result.path, of);
        family = MakeTaskFamily(of);
        part["family"] = family->name();
      }
      const Tree tree = LoadTree(files[i], std::string(family->name()), text);
      if (part["data"] == "") part["data"] = tree.origin().data_hash;
      Json item = TreeItem(tree, *family);
      Json& known = part["instructions"];
      Json messages = Messages(tree.instruction());
      const auto at = std::ranges::find(known, messages);
      item["instruction"] = at - known.begin();
      if (at == known.end()) known.push_back(std::move(messages));
      part["trees"].push_back(IndexLine(tree, files[i].task_id, items.Add(item)));
      part["files"].push_back(name);
    } catch (const FatalError& error) {
      part["problems"].push_back(error.what());
    }
  }
  items.EndBlock();
  return part;
}

}  // namespace agentr
