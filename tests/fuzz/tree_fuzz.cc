// Any text is either refused as a tree file, or gives a tree whose indices are valid and which is
// unchanged after writing and reading in both formats.
#include "common/error.h"
#include "mcts/tree_file.h"
#include "tests/fuzz/fuzz_input.h"

using agentr::Check;

namespace {

void CheckNodes(const agentr::Tree& tree) {
  Check(tree.size() >= 1 && tree.root().parent == -1);
  for (int i = 0; i < tree.size(); ++i) {
    const agentr::Node& node = tree.node(i);
    Check(i == 0 || (node.parent >= 0 && node.parent < i));
    Check(i == 0 || node.depth == tree.node(node.parent).depth + 1);
    Check(node.dropped_turns >= 0 && node.dropped_turns <= node.depth);
    tree.SeenConversation(i);
  }
}

// Writing, reading and writing again gives the same text.
void CheckRoundTrip(const agentr::Tree& tree, agentr::TreeFormat format) {
  const std::string text = agentr::WriteTree(tree, format);
  Check(agentr::WriteTree(agentr::ReadTree(text, "again"), format) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  agentr::Tree tree;
  try {
    tree = agentr::ReadTree(agentr::AsText(data, size), "fuzz");
  } catch (const agentr::FatalError&) {
    return 0;
  }
  CheckNodes(tree);
  CheckRoundTrip(tree, agentr::TreeFormat::kCompact);
  agentr::ReadTree(agentr::WriteTree(tree, agentr::TreeFormat::kAgentR), "agent-r");
  return 0;
}
