// tree_show: prints tree files in readable form, or walks in one on a terminal.
#include <fmt/core.h>
#include <unistd.h>

#include "common/error.h"
#include "common/file.h"
#include "common/options.h"
#include "mcts/tree_file.h"
#include "mcts/tree_print.h"
#include "mcts/tree_walk.h"

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    std::vector<std::string> files;
    agentr::TreePrintOptions options;
    bool print = false;
    agentr::OptionSet set(
        "tree_show",
        "Shows search trees: visits, values, actions, rewards. On a terminal one\n"
        "walks in a single tree with the arrow keys; q quits.",
        "  tree_show mcts_result/webshop/planner/search_results_31.json\n"
        "  tree_show --rewarded --levels 5 search_results_31.json");
    set.AddPositional("FILE", files, "Tree files, in compact or agent-r format");
    Declare(set, options);
    set.AddSwitch("--print", print, "Print on a terminal too, as the options above also do")
        .OnlyOutput();
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    const bool terminal = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
    for (const char* flag : {"--levels", "--width", "--responses", "--rewarded", "--color"}) {
      print = print || set.Given(flag);
    }
    if (terminal && !print && files.size() == 1) {
      agentr::WalkTree(agentr::ReadTree(agentr::ReadFile(files.front()), files.front()));
      return agentr::ExitCode::kOk;
    }
    for (const std::string& file : files) {
      const agentr::Tree tree = agentr::ReadTree(agentr::ReadFile(file), file);
      fmt::print("{}", PrintTree(tree, options));
    }
    return agentr::ExitCode::kOk;
  });
}
