// One logger (spdlog's default), to stderr; stdout is for results.
#pragma once

#include <string>

namespace agentr {

class OptionSet;

struct LogOptions {
  std::string level = "info";  // trace | debug | info | warn | error | off
};

void Declare(OptionSet& set, LogOptions& options);

void InitLogging(const LogOptions& options);

}  // namespace agentr
