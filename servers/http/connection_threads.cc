#include "servers/http/connection_threads.h"

#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

namespace agentr {

void ConnectionThreads::Enqueue(std::function<void()> serve) {
  bool grow;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(serve));
    grow = waiting_.size() > idle_ && threads_.size() < limit_;
  }
  wake_.notify_one();
  if (!grow) return;
  try {
    threads_.emplace_back([this] { Loop(); });
  } catch (const std::system_error& error) {
    spdlog::warn("no thread for connection {}: {}; it waits. Raise ulimit -u, or lower --threads",
                 threads_.size() + 1, error.what());
  }
}

void ConnectionThreads::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    const std::function<void()> serve = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    serve();
    lock.lock();
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
