// Options of a job of many processes.
#pragma once

#include <string>

namespace agentr {

class OptionSet;

struct DistributedOptions {
  int processes = 0;               // 0: what the environment says, or one
  int zero = 0;                    // what is shared out over them: sharded_parameters.h
  std::string transport = "auto";  // gloo | tcp; auto: gloo where the build has it
  int collective_timeout = 600;    // seconds
};

// --processes, --zero, --transport, --collective_timeout.
void Declare(OptionSet& set, DistributedOptions& options);

}  // namespace agentr
