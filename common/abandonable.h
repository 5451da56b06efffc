// Calls that block and that nothing can interrupt, such as the look-up of a host's name. They run
// on a thread of their own, so that a caller who can wait no longer leaves them behind.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace agentr {

// What `call` returns, or nullopt once `give_up` returns true, which is asked about twenty times a
// second. Then the call goes on by itself, and what it returns is destroyed; so it must own
// everything that it uses. It must not throw.
template <typename T>
std::optional<T> WaitUnless(std::function<T()> call, const std::function<bool()>& give_up) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<T> result;  // guarded by mutex
  };
  const auto shared = std::make_shared<Shared>();
  std::thread([shared, call = std::move(call)] {
    T result = call();
    const std::lock_guard lock(shared->mutex);
    shared->result = std::move(result);
    shared->done.notify_one();
  }).detach();
  std::unique_lock lock(shared->mutex);
  while (!shared->result && !give_up()) shared->done.wait_for(lock, std::chrono::milliseconds(50));
  return std::move(shared->result);
}

}  // namespace agentr
