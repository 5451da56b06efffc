// The tables in the database, in its schema "agentr", and the steps that make them.
//
//   run      a kind of results ("trees"), a name, and the options that determine them
//   task     a piece of work of a run: who works on it or did it, and its result, compressed, with
//            the SHA-256 of the uncompressed bytes. It is done once finished_at is set
//   worker   a process that works on a run, with its last sign of life
//   file     a whole file that belongs to a run, such as training rows
//   live_worker   the workers whose leases hold, as a view
//   schema_version   the steps that were taken
#pragma once

#include "store/postgres.h"

namespace agentr {

// Takes the steps that the database has not taken yet, all or none; several programs may do so at
// once. Throws SqlError, and FatalError(kUsage) if the tables are those of a newer version.
void Migrate(PostgresConnection& connection);

}  // namespace agentr
