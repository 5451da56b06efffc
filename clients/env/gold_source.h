// Solutions of tasks, as the simulator itself tells them: for planners, which stand in for a model
// that knows the task, and never shown to one.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "clients/environment.h"
#include "clients/http/http_client.h"

namespace agentr {

// Asked by the task's id, not by what a conversation shows of it: tasks that differ only in what
// lies behind a door begin with the same text. Thread-safe.
class GoldSource {
 public:
  virtual ~GoldSource() = default;

  // Actions that solve the task `task_id` from its beginning.
  virtual Result<std::vector<std::string>> GoldFor(int task_id) = 0;
};

// From an environment's extension "gold": opens a session of its own once per task, and remembers
// the answer. An error is not remembered. Callers that ask for the same task wait for one another.
class SessionGold : public GoldSource {
 public:
  explicit SessionGold(std::unique_ptr<Environment> environment)
      : environment_(std::move(environment)) {}

  Result<std::vector<std::string>> GoldFor(int task_id) override;

 private:
  struct Entry {
    std::mutex mutex;
    bool known = false;             // guarded by mutex
    std::vector<std::string> gold;  // guarded by mutex
  };
  Entry& EntryOf(int task_id);
  Result<std::vector<std::string>> Fetch(int task_id) const;

  const std::unique_ptr<Environment> environment_;
  std::mutex mutex_;
  std::map<int, Entry> entries_;  // guarded by mutex_, but for what is in an Entry
};

// Of the servers of this family, through connections of its own. Throws as HttpEnvironment, and
// FatalError(kUsage) where the servers do not list the extension.
std::unique_ptr<GoldSource> MakeHttpGold(const std::string& family,
                                         const std::vector<std::string>& bases,
                                         const HttpOptions& options);

}  // namespace agentr
