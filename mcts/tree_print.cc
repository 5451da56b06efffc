#include "mcts/tree_print.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "common/options.h"
#include "common/text.h"

namespace agentr {
namespace {

class Printer {
 public:
  Printer(const Tree& tree, const TreePrintOptions& options)
      : tree_(tree),
        options_(options),
        color_(options.color == "always" ||
               (options.color == "auto" && ::isatty(STDOUT_FILENO) != 0)) {}

  std::string Print() {
    Header();
    Children(0, "");
    return std::move(out_);
  }

 private:
  void Header() {
    const TreeOrigin& origin = tree_.origin();
    const auto ended =
        std::ranges::count_if(tree_.nodes(), [](const Node& n) { return n.end != End::kNone; });
    const auto best = std::ranges::max(tree_.nodes(), {}, &Node::reward).reward;
    const auto deepest = std::ranges::max(tree_.nodes(), {}, &Node::depth).depth;
    out_ += fmt::format(
        "{} task {}, model {}: {} nodes, {} ended leaves, depth {}, best reward {}, "
        "mean value {:.3f}\n",
        origin.family.empty() ? "(agent-r)" : EscapeControls(origin.family), origin.task_id,
        origin.model.empty() ? "unknown" : EscapeControls(origin.model), tree_.size(), ended,
        deepest, best, tree_.root().mean());
    out_ += "Each line: visits, mean value, [end, reward of a leaf] action -> observation\n\n";
    out_ += EscapeControls(tree_.root().observation, "\n\t") + "\n\n";
    out_ += fmt::format("{} {:.2f} ROOT\n", tree_.root().visits, tree_.root().mean());
  }

  void Children(int parent, const std::string& indent) {
    if (options_.levels > 0 && tree_.node(parent).depth >= options_.levels) return;
    std::vector<int> shown;
    std::ranges::copy_if(tree_.node(parent).children, std::back_inserter(shown),
                         [&](int c) { return !options_.rewarded || tree_.node(c).value > 0; });
    for (const int child : shown) {
      const bool last = child == shown.back();
      Line(child, indent + (last ? "└─ " : "├─ "), indent + (last ? "   " : "│  "));
      Children(child, indent + (last ? "   " : "│  "));
    }
  }

  void Line(int index, const std::string& branch, const std::string& below) {
    const Node& node = tree_.node(index);
    const std::string text = fmt::format("{}{} {:.2f} {}{} -> {}", branch, node.visits, node.mean(),
                                         EndingText(node), node.action, OneLine(node.observation));
    out_ += Paint(node, FitColumns(EscapeControls(text), options_.width)) + "\n";
    if (options_.responses) {
      const std::string response = EscapeControls(OneLine(node.response));
      out_ += FitColumns(fmt::format("{}   {}", below, response), options_.width) + "\n";
    }
  }

  std::string Paint(const Node& node, const std::string& text) const {
    if (!color_ || node.end == End::kNone) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", node.reward > 0 ? 32 : 31, text);
  }

  const Tree& tree_;
  const TreePrintOptions& options_;
  const bool color_;
  std::string out_;
};

}  // namespace

void Declare(OptionSet& set, TreePrintOptions& o) {
  set.Group("Output");
  set.Add("--levels", o.levels, "Deepest level to show (0: all)").Min(0).OnlyOutput();
  set.Add("--width", o.width, "Columns; longer lines are cut").Min(20).OnlyOutput();
  set.AddSwitch("--responses", o.responses, "Show the model's whole responses").OnlyOutput();
  set.AddSwitch("--rewarded", o.rewarded, "Show only paths that lead to a reward above 0")
      .OnlyOutput();
  set.Add("--color", o.color, "Colour ended leaves")
      .OneOf({"auto", "always", "never"})
      .OnlyOutput();
}

std::string EndingText(const Node& node) {
  switch (node.end) {
    case End::kNone:
      return "";
    case End::kDone:
      return fmt::format("[done {}] ", node.reward);
    case End::kDisaster:
      return "[disaster] ";
    case End::kDepth:
      return fmt::format("[depth limit {}] ", node.reward);
    case End::kCut:
      return fmt::format("[cut responses {}] ", node.reward);
  }
  return "";
}

std::string PrintTree(const Tree& tree, const TreePrintOptions& options) {
  return Printer(tree, options).Print();
}

}  // namespace agentr
