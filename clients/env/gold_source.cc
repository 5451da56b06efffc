#include "clients/env/gold_source.h"

#include <fmt/core.h>

#include <utility>

#include "clients/env/http_environment.h"

namespace agentr {

Result<std::vector<std::string>> SessionGold::GoldFor(int task_id) {
  Entry& entry = EntryOf(task_id);
  const std::lock_guard lock(entry.mutex);
  if (entry.known) return entry.gold;
  Result<std::vector<std::string>> gold = Fetch(task_id);
  if (!gold) return gold;
  entry.known = true;
  entry.gold = std::move(*gold);
  return entry.gold;
}

SessionGold::Entry& SessionGold::EntryOf(int task_id) {
  const std::lock_guard lock(mutex_);
  return entries_[task_id];
}

Result<std::vector<std::string>> SessionGold::Fetch(int task_id) const {
  AGENTR_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, environment_->Open());
  AGENTR_RETURN_IF_ERROR(session->Reset(task_id));
  return session->Query("gold");
}

std::unique_ptr<GoldSource> MakeHttpGold(std::unique_ptr<Protocol> protocol,
                                         const std::vector<Secret>& bases,
                                         const HttpOptions& options) {
  const std::string family = protocol->family();
  auto environment = std::make_unique<HttpEnvironment>(std::move(protocol), bases, options);
  if (!environment->Offers("gold")) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("the model \"planner\" needs the solutions of {0} tasks, which "
                                 "{1} does not provide (no extension \"gold\"); use the embedded "
                                 "server or env_server --task {0}, or name another model",
                                 family, bases.front().Redacted()));
  }
  return std::make_unique<SessionGold>(std::move(environment));
}

}  // namespace agentr
