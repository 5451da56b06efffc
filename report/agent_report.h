// The job of agent_report: makes an HTML page of everything that the programs wrote into folders.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/error.h"
#include "report/report_parts.h"

namespace agentr {

class OptionSet;

struct AgentReportOptions {
  std::vector<std::string> folders;
  std::string output = "agentr_report.html";
  ReportLimits limits;
  int serve = -1;  // port of this machine on which the page is served; 0: a free one, -1: none
};

void Declare(OptionSet& set, AgentReportOptions& options);

struct ReportText {
  std::string page;
  size_t results = 0;  // that are on it
};

// The page, without writing it. `follow` goes into the page's index if it is not empty: such a page
// asks its server for another one when what is at "/stamp" has become another text. Problems and
// errors as AgentReport.
ReportText MakeReport(const AgentReportOptions& options, const std::string& follow = "");

// Writes the page and prints its name and size to stdout. What cannot be read is reported on the
// page and as a warning. The same files give the same bytes. Throws FatalError(kFile) if there is
// nothing to report or the page cannot be written.
ExitCode AgentReport(const AgentReportOptions& options);

}  // namespace agentr
