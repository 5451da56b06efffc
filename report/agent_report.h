// The job of agent_report: makes an HTML page of everything that the programs wrote into folders.
#pragma once

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
};

void Declare(OptionSet& set, AgentReportOptions& options);

// Writes the page and prints its name and size to stdout. What cannot be read is reported on the
// page and as a warning. The same files give the same bytes. Throws FatalError(kFile) if there is
// nothing to report or the page cannot be written.
ExitCode AgentReport(const AgentReportOptions& options);

}  // namespace agentr
