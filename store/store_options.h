// The options of programs that keep their results in a database.
#pragma once

#include <string>

#include "common/secret.h"

namespace agentr {

class OptionSet;

struct StoreOptions {
  Secret url = "";       // postgresql://user@host:port/database; empty: results are files
  std::string run = "";  // the run's name in the database; empty: TASK/MODEL, as folders are named
  // Seconds after which the tasks of a worker that gives no sign of life are done by others.
  int lease_s = 60;
  // Seconds for which a lost connection is tried again, and a silent one is waited for (at least a
  // minute).
  int patience_s = 600;
  // Seconds that a statement may take when the run is being stopped.
  double stop_grace_s = 10;
};

// options.run or, if it is empty, TASK/MODEL.
std::string RunName(const StoreOptions& options, const std::string& task,
                    const std::string& model_name);

// Declares --store, --store_run, --store_lease and --store_patience.
void Declare(OptionSet& set, StoreOptions& options);

}  // namespace agentr
