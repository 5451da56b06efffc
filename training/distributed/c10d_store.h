// The store of a job: c10d's TCPStore, kept by rank 0.
#pragma once

#include <memory>

#include "training/distributed/key_value_store.h"
#include "training/distributed/rendezvous.h"

namespace agentr {

// `serves`: this process keeps the store. Waits up to `timeout_s` for it. Throws
// FatalError(kUnavailable).
std::unique_ptr<KeyValueStore> ConnectStore(const Place& place, bool serves, int timeout_s);

}  // namespace agentr
