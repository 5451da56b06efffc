// Counts the calls to one kind of server, for messages, run.json and tests.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "common/error.h"

namespace agentr {

// Thread-safe. Each counter is exact, but a snapshot taken during a call may mix counts from before
// and after it.
class CallStats {
 public:
  void AddCall(size_t bytes_sent, size_t bytes_received) {
    ++calls_;
    bytes_sent_ += bytes_sent;
    bytes_received_ += bytes_received;
  }
  void AddRetry() { ++retries_; }
  // Counts a kept connection that was replaced because the server had closed it between two calls;
  // this is not an error.
  void AddReconnect() { ++reconnects_; }
  void AddError(ErrorKind kind) { ++errors_[static_cast<size_t>(kind)]; }

  // Takes back an error that was counted but is an expected answer.
  void ForgiveError(ErrorKind kind) { --errors_[static_cast<size_t>(kind)]; }

  // Counts a reply of a model's server without its usage, which was estimated.
  void AddEstimatedUsage() { ++estimated_usage_; }
  // Counts a completion without text, and returns how many there were.
  int64_t AddTextless() { return ++textless_; }

  int64_t calls() const { return calls_; }  // requests made, including failed and repeated ones
  int64_t retries() const { return retries_; }
  int64_t reconnects() const { return reconnects_; }
  int64_t errors(ErrorKind kind) const { return errors_[static_cast<size_t>(kind)]; }

  // {"calls", "retries", "reconnects", "bytes_sent", "bytes_received" (bodies), "errors": {kind:
  // n}, "estimated_usage", "textless"}; kinds that never happened and the last two are left out
  // where they are 0.
  nlohmann::json Json() const;

 private:
  std::atomic<int64_t> calls_ = 0, retries_ = 0, reconnects_ = 0;
  std::atomic<int64_t> estimated_usage_ = 0, textless_ = 0;
  std::atomic<int64_t> bytes_sent_ = 0, bytes_received_ = 0;
  std::array<std::atomic<int64_t>, static_cast<size_t>(ErrorKind::kCancelled) + 1> errors_{};
};

}  // namespace agentr
