// Options that several programs share.
#pragma once

#include <string>
#include <vector>

#include "clients/http/http_client.h"

namespace agentr {

class OptionSet;

// Which kind of task, and where its environment is.
struct EnvironmentOptions {
  std::string task = "webshop";
  std::vector<std::string> env_server_base;  // base URLs; empty: an embedded server
  HttpOptions http = ManyConnections();

  // As many connections as trees or episodes may want at once.
  static HttpOptions ManyConnections();
};

// --task, in the group that is open.
void DeclareTask(OptionSet& set, EnvironmentOptions& options);

// --env_server_base, --env_timeout, ….
void Declare(OptionSet& set, EnvironmentOptions& options);

}  // namespace agentr
