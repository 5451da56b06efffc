// A store of keys in the memory of this process, whose ranks are its threads.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "training/distributed/key_value_store.h"

namespace agentr {

// What all ranks share; it can vanish or get stuck.
struct SharedStore {
  std::mutex mutex;
  std::map<std::string, std::string> values;
  std::atomic<bool> gone = false;
  std::atomic<bool> stuck = false;
};

class SharedKeys : public KeyValueStore {
 public:
  explicit SharedKeys(std::shared_ptr<SharedStore> shared) : shared_(std::move(shared)) {}
  void Set(const std::string& key, const std::string& value) override {
    Reach();
    const std::lock_guard lock(shared_->mutex);
    shared_->values[key] = value;
  }
  std::optional<std::string> Get(const std::string& key) override {
    Reach();
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->values.find(key);
    return found == shared_->values.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void Reach() const {
    while (shared_->stuck) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (shared_->gone) throw std::runtime_error("Connection reset");
  }
  const std::shared_ptr<SharedStore> shared_;
};

}  // namespace agentr
