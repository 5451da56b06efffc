// A few short texts by key that all processes of a job can read and write: used to find each other
// and to show that they are alive.
#pragma once

#include <optional>
#include <string>

namespace agentr {

// Used by one thread at a time. All calls throw std::exception if the store does not answer.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  virtual void Set(const std::string& key, const std::string& value) = 0;
  // Does not wait; nullopt if it was never set.
  virtual std::optional<std::string> Get(const std::string& key) = 0;
};

}  // namespace agentr
