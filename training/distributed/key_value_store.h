// A few short texts by key that all processes of a job see: how they find each other and say that
// they live.
#pragma once

#include <optional>
#include <string>

namespace agentr {

// One thread at a time. All calls throw std::exception where the store does not answer.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  virtual void Set(const std::string& key, const std::string& value) = 0;
  // Without waiting for it; nothing where it was never set.
  virtual std::optional<std::string> Get(const std::string& key) = 0;
};

}  // namespace agentr
