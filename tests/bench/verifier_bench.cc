// How well the mistakes that the tree verifier finds agree with the truth, where that can be worked
// out: in TextCraft, where the plan from what is held to the goal tells how far it is. A taken step
// is a mistake in truth when it brings the goal no nearer.
//
//   mcts_collect --task textcraft --max 120 --planner_error_rate 0.25 --output_dir trees
//   verifier_bench trees/textcraft/planner
#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "mcts/tree_file.h"
#include "mcts/tree_store.h"
#include "revision/mistakes.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/textcraft/textcraft_planner.h"

namespace agentr {
namespace {

// Steps of the plan from what is held at `node` to the goal; nothing where no plan leads there.
std::optional<size_t> Distance(const Tree& tree, int node) {
  const std::optional<TextCraftView> view = ReadTextCraft(tree.Conversation(node));
  if (!view) return std::nullopt;
  const size_t steps = PlanTextCraft(*view).size();
  return steps == 0 ? std::nullopt : std::optional(steps);
}

struct Agreement {
  int found = 0;    // mistakes of the verifier: taken steps
  int right = 0;    // of those in truth
  int farther = 0;  // of those, steps that lead away from the goal
  int refused = 0;  // mistakes of the verifier that are refusals, which are mistakes by themselves
  int truth =
      0;  // steps out of states with success that bring the goal no nearer, and are searched on
};

void Compare(const Tree& tree, int min_evidence, Agreement& sum) {
  const TextCraftFamily family;
  const StateMap states(tree, family);
  MistakeOptions options;
  options.min_evidence = min_evidence;
  for (const Mistake& mistake : FindMistakes(tree, states, family, options)) {
    if (mistake.refused) {
      ++sum.refused;
      continue;
    }
    const auto before = Distance(tree, tree.node(mistake.node).parent);
    const auto after = Distance(tree, mistake.node);
    ++sum.found;
    if (before && (!after || *after >= *before)) ++sum.right;
    if (before && (!after || *after > *before)) ++sum.farther;
  }
  std::vector<bool> seen(static_cast<size_t>(states.size()));
  for (int node = 1; node < tree.size(); ++node) {
    const auto state = static_cast<size_t>(states.Of(node));
    const int above = states.state(states.Of(node)).parent;
    const bool taken = states.Changed(node) && !states.At(node).ended &&
                       !tree.node(node).children.empty() && above >= 0;
    if (!taken || seen[state] || states.state(above).best < options.choice.alpha) continue;
    seen[state] = true;
    const auto before = Distance(tree, tree.node(node).parent);
    const auto after = Distance(tree, node);
    if (before && (!after || *after >= *before)) ++sum.truth;
  }
}

int Main(const std::vector<std::string>& folders) {
  fmt::print("{:<40} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "trees, least evidence", "refused",
             "taken", "right", "precision", "farther", "recall");
  for (const std::string& folder : folders) {
    for (const int min_evidence : {1, 3, 8, 20}) {
      Agreement sum;
      for (const TreeFile& file : TreeFilesIn(folder)) {
        Compare(ReadTree(ReadFile(file.path), file.path.string()), min_evidence, sum);
      }
      const auto share = [](int part, int whole) { return whole > 0 ? 1.0 * part / whole : 0.0; };
      fmt::print("{:<37} {:>2} {:>8} {:>8} {:>8} {:>9.3f} {:>9.3f} {:>8.3f}\n", folder,
                 min_evidence, sum.refused, sum.found, sum.right, share(sum.right, sum.found),
                 share(sum.farther, sum.found), share(sum.right, sum.truth));
    }
  }
  return 0;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::Main(std::vector<std::string>(argv + 1, argv + argc));
}
