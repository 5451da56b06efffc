// tree_show: prints tree files in readable form.
#include <fmt/core.h>

#include "common/error.h"
#include "common/file.h"
#include "common/options.h"
#include "mcts/tree_file.h"
#include "mcts/tree_print.h"

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    std::vector<std::string> files;
    agentr::TreePrintOptions options;
    agentr::OptionSet set("tree_show", "Prints search trees: visits, values, actions, rewards.",
                          "  tree_show mcts_result/webshop/planner/search_results_31.json\n"
                          "  tree_show --rewarded --levels 5 search_results_31.json");
    set.AddPositional("FILE", files, "Tree files, in compact or agent-r format");
    Declare(set, options);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    for (const std::string& file : files) {
      const agentr::Tree tree = agentr::ReadTree(agentr::ReadFile(file), file);
      fmt::print("{}", PrintTree(tree, options));
    }
    return agentr::ExitCode::kOk;
  });
}
