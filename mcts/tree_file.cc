#include "mcts/tree_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/json_depth.h"
#include "common/json_fields.h"
#include "mcts/agent_r_tree.h"
#include "mcts/compact_tree.h"

namespace agentr {

std::string WriteTree(const Tree& tree, TreeFormat format) {
  return format == TreeFormat::kCompact ? WriteCompactTree(tree) : WriteAgentRTree(tree);
}

Tree ReadTree(std::string_view text, const std::string& name) {
  try {
    const auto document = ParseJsonOrThrow<nlohmann::ordered_json>(text, kDeepestTree);
    if (!document.is_object() || !(document.contains("format") || document.contains("children"))) {
      throw std::invalid_argument("not a tree file: it has neither \"format\" nor \"children\"");
    }
    Tree tree = document.contains("format") ? ReadCompactTree(document) : ReadAgentRTree(document);
    // Needs all nodes: with some siblings missing, a parent could become terminal by mistake.
    for (const Node& node : tree.nodes()) {
      if (node.end != End::kNone) tree.RefreshTerminal(node.parent);
    }
    return tree;
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = text.begin() + static_cast<long>(std::min(error.byte, text.size()));
    throw FatalError(ExitCode::kFile, fmt::format("{}:{}: not JSON: {}", name,
                                                  1 + std::count(text.begin(), end, '\n'),
                                                  JsonFault(text, kDeepestTree)));
  } catch (const nlohmann::json::exception& error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: not a tree file: {}", name, PlainFault(error)));
  } catch (const std::invalid_argument& error) {
    throw FatalError(ExitCode::kFile, fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace agentr
