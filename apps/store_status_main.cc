// store_status: shows the progress of the runs in a database.
#include "apps/program.h"
#include "store/store_status.h"

int main(int argc, char** argv) {
  agentr::StoreStatusOptions options;
  return agentr::RunWithOptions(
      argc, argv,
      {"store_status",
       "Shows what the runs in a database (--store of the other programs) have done: tasks done,\n"
       "running, failed and waiting, by run and by worker, their rate and the time to the end.",
       "  store_status --store postgresql://agentr@db.example.org/agentr\n"
       "  store_status --store postgresql:///agentr --watch 5"},
      [&](const agentr::OptionSet&) { return agentr::StoreStatus(options); }, options);
}
