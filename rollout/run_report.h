// What every run over many tasks reports: of searches, of episodes.
#pragma once

#include "clients/language_model.h"
#include "rollout/executor.h"

namespace agentr {

// Counts cover the failed items too.
struct RunReport {
  int finished = 0;          // items written
  int skipped = 0;           // that were there already
  int elsewhere = 0;         // that another run was working on
  bool gave_up = false;      // too many failures in a row
  bool interrupted = false;  // stopped from outside; not all items were tried
  Usage usage;
  ExecutionStats execution;
  double wall_s = 0;
};

}  // namespace agentr
