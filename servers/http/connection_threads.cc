#include "servers/http/connection_threads.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace agentr {

bool ConnectionThreads::HasRoom() {
  const std::lock_guard lock(mutex_);
  return waiting_.size() < idle_ + (limit_ - threads_.size());
}

void ConnectionThreads::Enqueue(std::function<void()> serve) {
  bool grow;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(serve));
    // Idle threads may already be promised to earlier connections in the queue.
    grow = waiting_.size() > idle_ && threads_.size() < limit_;
    if (grow) ++idle_;  // the thread that is about to start
  }
  wake_.notify_one();
  if (!grow) return;
  try {
    threads_.emplace_back([this] { Loop(); });
  } catch (const std::system_error& error) {
    spdlog::warn(
        "no thread can be started for connection {}: {}; it waits. Raise ulimit -u, or lower "
        "--threads",
        threads_.size() + 1, error.what());
    limit_ = std::max<size_t>(1, threads_.size());
    const std::lock_guard lock(mutex_);
    --idle_;
  }
}

void ConnectionThreads::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    --idle_;
    // After stop, threads first serve the rest of the queue.
    if (waiting_.empty()) return;
    const std::function<void()> serve = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    serve();
    lock.lock();
    ++idle_;
  }
}

void ConnectionThreads::Join() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace agentr
