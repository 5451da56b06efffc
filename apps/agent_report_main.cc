// agent_report: shows the results of the other programs as a page for the browser.
#include "apps/program.h"
#include "report/agent_report.h"

int main(int argc, char** argv) {
  agentr::AgentReportOptions options;
  return agentr::RunWithOptions(
      argc, argv,
      {"agent_report",
       "Writes one HTML file that shows the results in folders: search trees, training rows "
       "beside\n"
       "the paths from which they were made, training curves, evaluations with paired "
       "comparisons,\n"
       "the table of self_train, and the options of each run. The file needs no network.",
       "  agent_report mcts_result path_result test_result\n"
       "  agent_report loop_result/loop --output loop.html"},
      [&](const agentr::OptionSet&) { return agentr::AgentReport(options); }, options);
}
