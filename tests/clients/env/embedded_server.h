// An environment server within the test's process, on a free port.
#pragma once

#include <memory>
#include <string>

#include "servers/env_server.h"

namespace agentr {

inline std::unique_ptr<EnvServer> StartServer(const std::string& task, bool extensions = true) {
  EnvServerOptions options;
  options.task = task;
  options.port = 0;
  options.no_extensions = !extensions;
  return StartEnvServer(options);
}

}  // namespace agentr
