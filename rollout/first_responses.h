// Tells at the beginning of a run whether the model speaks the language of the task.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace agentr {

// Counts the first responses of a run. If most of them hold no action, or more than four in five
// hold none or one that the environment refuses, it warns once, with the last of them and the
// likely cures: a run of hours with a wrong chat template or prompt makes nothing but such
// responses. Thread-safe.
class FirstResponses {
 public:
  static constexpr int kCounted = 20;

  void Add(std::string_view response, std::string_view action, bool refused);

  // The warning, once there is one; else empty.
  std::string warning() const;

 private:
  mutable std::mutex mutex_;
  int counted_ = 0, useless_ = 0, empty_ = 0;  // guarded by mutex_, like those below
  std::string example_;
  std::string warning_;
};

}  // namespace agentr
