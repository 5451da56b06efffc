// Counters of the calls to one kind of server: for messages, run.json and tests.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "common/error.h"

namespace agentr {

// Thread-safe; each counter is exact, a snapshot taken in the middle of a call may be torn.
class CallStats {
 public:
  void AddCall(size_t bytes_sent, size_t bytes_received) {
    ++calls_;
    bytes_sent_ += bytes_sent;
    bytes_received_ += bytes_received;
  }
  void AddRetry() { ++retries_; }
  // A kept connection that the server had closed between two calls was replaced: not an error.
  void AddReconnect() { ++reconnects_; }
  void AddError(ErrorKind kind) { ++errors_[static_cast<size_t>(kind)]; }

  // An error that was counted turned out to be an answer to be expected.
  void ForgiveError(ErrorKind kind) { --errors_[static_cast<size_t>(kind)]; }

  int64_t calls() const { return calls_; }  // requests made, with the failed and the repeated ones
  int64_t retries() const { return retries_; }
  int64_t reconnects() const { return reconnects_; }
  int64_t errors(ErrorKind kind) const { return errors_[static_cast<size_t>(kind)]; }

  // {"calls", "retries", "reconnects", "bytes_sent", "bytes_received" (bodies), "errors": {kind:
  // n}}; kinds that never happened are left out.
  nlohmann::json Json() const;

 private:
  std::atomic<int64_t> calls_ = 0, retries_ = 0, reconnects_ = 0;
  std::atomic<int64_t> bytes_sent_ = 0, bytes_received_ = 0;
  std::array<std::atomic<int64_t>, static_cast<size_t>(ErrorKind::kCancelled) + 1> errors_{};
};

}  // namespace agentr
