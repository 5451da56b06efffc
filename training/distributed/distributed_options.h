// Options of a job of many processes.
#pragma once

namespace agentr {

class OptionSet;

struct DistributedOptions {
  int processes = 0;             // 0: what the environment says, or one
  int zero = 0;                  // what is shared out over them: sharded_parameters.h
  int collective_timeout = 600;  // seconds
};

// --processes, --zero, --collective_timeout.
void Declare(OptionSet& set, DistributedOptions& options);

}  // namespace agentr
