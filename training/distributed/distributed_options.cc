#include "training/distributed/distributed_options.h"

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, DistributedOptions& o) {
  set.Group("Processes");
  set.Add("--processes", o.processes,
          "Starts so many on this machine; 0: those of torchrun or Slurm, or one")
      .Range(0, 1024);
  set.Add("--zero", o.zero,
          "What the processes share out: 0 nothing | 1 optimiser state | 2 gradients too")
      .Range(0, 2);
  set.Add("--transport", o.transport,
          "Between the processes: gloo (of LibTorch) | tcp (our own) | auto: gloo where it is "
          "built in")
      .OneOf({"auto", "gloo", "tcp"});
  set.Add("--collective_timeout", o.collective_timeout,
          "Seconds that a process waits for the others in one exchange; more where writing a "
          "checkpoint takes longer")
      .Min(1);
}

}  // namespace agentr
