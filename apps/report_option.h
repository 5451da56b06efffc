// --report FILE of the programs that write results: after the job, the page of agent_report over
// the folders of the job. agent_train has no such option because it may be many processes.
#pragma once

#include <spdlog/spdlog.h>

#include <string>
#include <vector>

#include "common/error.h"
#include "common/options.h"
#include "report/agent_report.h"

namespace agentr {

struct ReportOption {
  std::string file = "";  // empty: no report
};

inline void Declare(OptionSet& set, ReportOption& report) {
  set.Group("Report");
  set.Add("--report", report.file,
          "Afterwards write an HTML page of all results in the output folder to this file (see "
          "agent_report)")
      .OnlyOnCommandLine()
      .OnlyOutput();
}

// The folders that a program's report shows.
template <typename Options>
std::vector<std::string> ReportFolders(const Options& options) {
  std::string folder = options.output_dir;
  if constexpr (requires {
                  options.iterations;
                  options.name;
                })
    folder += "/" + options.name;
  if constexpr (requires { options.input.input_dir; }) return {options.input.input_dir, folder};
  return {folder};
}

// Throws FatalError(kUsage) if a report is wanted of results that are in no folder.
template <typename Options>
void CheckReport(const ReportOption& report, const Options& options) {
  if constexpr (requires { options.store.url; }) {
    if (report.file.empty() || options.store.url.empty()) return;
    throw FatalError(ExitCode::kUsage,
                     "--report shows the files of a folder, and --store keeps the results in a "
                     "database: leave one of the two out (--store may be set by AGENTR_STORE)");
  }
}

// Writes the report if one is wanted, also of an incomplete or interrupted job. Returns `exit`,
// also if there is nothing to report: the results of the job are there nevertheless.
template <typename Options>
ExitCode WriteReport(const ReportOption& report, const Options& options, ExitCode exit) {
  try {
    if (!report.file.empty()) AgentReport({ReportFolders(options), report.file, {}});
  } catch (const FatalError& error) {
    spdlog::error("--report: {}", error.what());
  }
  return exit;
}

}  // namespace agentr
