// The simulator's own solutions of tasks. Only scripted planners use them; a language model never
// sees one.
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

class Protocol;

// Solutions are found by task id, not by the text of a conversation, because tasks that differ only
// in what lies behind a door begin with the same text. Thread-safe.
class GoldSource {
 public:
  virtual ~GoldSource() = default;

  // The actions that solve the task `task_id` from its beginning.
  virtual Result<std::vector<std::string>> GoldFor(int task_id) = 0;
};

// Reads solutions from an environment's extension "gold". It opens its own session once per task
// and keeps the answer; an error is not kept. Callers for the same task wait for one another.
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
  std::map<int, Entry> entries_;  // guarded by mutex_, except the contents of an Entry
};

// A GoldSource for the servers that speak this protocol, with its own connections. Throws what
// HttpEnvironment throws, and FatalError(kUsage) if the servers do not list the extension.
std::unique_ptr<GoldSource> MakeHttpGold(std::unique_ptr<Protocol> protocol,
                                         const std::vector<Secret>& bases,
                                         const HttpOptions& options);

}  // namespace agentr
