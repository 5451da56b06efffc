#include "training/distributed/distributed_options.h"

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, DistributedOptions& o) {
  set.Group("Processes");
  set.Add("--processes", o.processes,
          "Number of processes to start on this machine; 0: those of torchrun or Slurm, or one")
      .Range(0, 1024)
      .OnlySpeed();
  // There was a choice in earlier releases, which saved configurations name.
  set.Group("");
  set.Add("--transport", o.transport, "Connections between the processes")
      .OneOf({"auto", "tcp"})
      .OnlySpeed();
  set.Group("Processes");
  set.Add("--meet_timeout", o.meet_timeout,
          "Seconds that a process waits at the start for the others; increase it where they start "
          "at "
          "different times")
      .Range(1, 86400)
      .OnlySpeed();
  set.Add("--collective_timeout", o.collective_timeout,
          "Seconds that a process waits for the others in one exchange; increase it if writing a "
          "checkpoint takes longer")
      .Range(1, 1000000)
      .OnlySpeed();
}

void DeclareZero(OptionSet& set, DistributedOptions& o) {
  set.Add("--zero", o.zero,
          "Data to divide among the processes: 0 nothing | 1 optimiser state | 2 also gradients")
      .Range(0, 2)
      .OnlySpeed();
}

}  // namespace agentr
