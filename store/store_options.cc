#include "store/store_options.h"

#include "common/options.h"
#include "common/run_file.h"

namespace agentr {

void Declare(OptionSet& set, StoreOptions& o) {
  set.Group("Store");
  // A URL may contain a password, which belongs in no file.
  set.Add("--store", o.url,
          "Keep results in this PostgreSQL database, postgresql://USER@HOST:PORT/DATABASE, which "
          "programs on many machines may share; passwords: PGPASSWORD or ~/.pgpass. Default: files",
          "AGENTR_STORE")
      .NotEmpty()
      .OnlyOnCommandLine()
      .OnlyOutput();
  set.Add("--store_run", o.run,
          "Name of the run in the database, whose tasks its workers share; default: TASK/MODEL")
      .OnlyOutput();
  set.Add("--store_lease", o.lease_s,
          "Seconds after which the tasks of a silent worker are given to others")
      .Min(1)
      .OnlySpeed();
  set.Add("--store_patience", o.patience_s,
          "Seconds for which a lost connection to the database is tried again")
      .Min(0)
      .OnlySpeed();
}

std::string RunName(const StoreOptions& options, const std::string& task,
                    const std::string& model_name) {
  return options.run.empty() ? ResultFolder("", task, model_name).string() : options.run;
}

}  // namespace agentr
