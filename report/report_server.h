// The report of results that are still being made, on a port of this machine.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "report/agent_report.h"
#include "servers/http/http_service.h"

namespace agentr {

// A text that differs when a file in the folders has been added, removed or written.
std::string StampOf(const std::vector<std::string>& folders);

// GET / is the page, GET /stamp the stamp of the page that GET / would send. The page is made anew
// when a file has changed, but at most during a fifth of the time. While nothing can be read yet,
// GET / says why with status 503, and lets the browser try again. Threads: requests may come at
// once; one of them makes the page.
class ReportServer {
 public:
  // Listens. Throws FatalError(kUsage) if the port is taken.
  explicit ReportServer(const AgentReportOptions& options);

  std::string base_url() const { return http_.base_url(); }
  std::string Summary() const;

 private:
  HttpResponse Page();
  std::string Stamp();
  bool IsOld();  // called with mutex_

  const AgentReportOptions options_;
  std::mutex mutex_;
  std::string stamp_, page_;  // guarded by mutex_, as those below
  std::chrono::steady_clock::time_point made_;
  std::chrono::steady_clock::duration took_{};
  HttpService http_;
};

}  // namespace agentr
