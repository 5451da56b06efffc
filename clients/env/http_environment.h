// Environments behind AgentGym-compatible HTTP servers.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "clients/call_stats.h"
#include "clients/env/protocol.h"
#include "clients/environment.h"
#include "clients/http/http_client.h"

namespace agentr {

class EnvServerGroup;

// Sessions over one or several servers of the same data. A session belongs to one server, the one
// with the fewest live sessions when it was opened; a server that did not answer is skipped for a
// few seconds. Thread-safe.
//
// Retries: opening, Reset, Expand and /version are repeated according to options.retry, because
// they may reach a server twice without harm. (A session or fork whose reply was lost stays on the
// server until its idle time or its root ends.) Step is repeated only if no connection could be
// made; its other errors go to the caller, who asks for Observation or resets and replays. If the
// server no longer knows the session (restarted, idle too long), Step and Expand return
// kSessionLost, and Reset opens a new one.
//
// Forks made by Expand are not closed one by one: the server ends them together with their parent
// session.
class HttpEnvironment : public Environment {
 public:
  // Asks each server for its version. Throws FatalError(kUsage) for a bad URL, and
  // FatalError(kUnavailable) when no server answers or when two hold different data.
  HttpEnvironment(std::unique_ptr<Protocol> protocol, const std::vector<Secret>& bases,
                  const HttpOptions& options);
  ~HttpEnvironment() override;

  Result<std::unique_ptr<Session>> Open() override;

  // True if all servers offer /expand.
  bool CanExpand() const override;

  // As many as the protocol allows per server that cannot fork.
  int DefaultSessions() const override;

  // True if the first server that answered lists this extension.
  bool Offers(std::string_view extension) const;

  // The version of the first server that answered; all fields are empty for a public server, which
  // has no /version.
  const ServerVersion& info() const;
  const CallStats& stats() const;

 private:
  std::unique_ptr<EnvServerGroup> servers_;
};

}  // namespace agentr
