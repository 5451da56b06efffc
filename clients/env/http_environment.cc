#include "clients/env/http_environment.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "clients/env/env_server_group.h"

namespace agentr {
namespace {

// A step cannot be sent again: the server may have taken it although no reply came, so the state of
// the session is unknown.
// A server that was started again may also answer with 404.
Error OfStep(HttpError error) {
  if ((error.sent && IsTransient(error.kind)) || error.status == 404) {
    error.kind = ErrorKind::kSessionLost;
  }
  return error;
}

// Whether a server that was started again may answer so for a session of before: many raise an
// exception for an id that they do not know.
bool MayHaveForgotten(const HttpError& error) {
  return error.status == 404 || error.status == 410 || error.status == 500;
}

class HttpSession : public Session {
 public:
  HttpSession(EnvServerGroup& servers, ServerSession session, bool is_fork, RewardTally tally = {})
      : servers_(servers), session_(session), is_fork_(is_fork), tally_(tally) {}

  ~HttpSession() override { Leave(/*close=*/!is_fork_); }

  Result<std::string> Reset(int task_id) override {
    return servers_.Repeat([&] {
      auto first = ResetOnce(task_id);
      if (first) return first;
      const bool forgotten = answered_ && MayHaveForgotten(first.error());
      if (!forgotten && !EnvServerGroup::IsLost(first.error())) return first;
      Leave(/*close=*/false);
      return ResetOnce(task_id);
    });
  }

  Result<StepResult> Step(std::string_view action) override {
    if (auto lost = CheckAlive()) return tl::make_unexpected(*lost);
    const Protocol& protocol = servers_.protocol();
    auto step = servers_.Repeat(
        [&] {
          return servers_.Post(*session_, "/step", protocol.StepBody(session_->id, action),
                               /*repeatable=*/false,
                               [&](std::string_view reply) { return protocol.ParseStep(reply); });
        },
        [](const HttpError& error) { return !error.sent; });
    if (!step) {
      Error error = OfStep(std::move(step.error()));
      // If the server took the action, its reward is missing in the tally.
      tally_lost_ = error.kind == ErrorKind::kSessionLost && protocol.TalliesRewards();
      return tl::make_unexpected(std::move(error));
    }
    step->reward = protocol.RewardSoFar(tally_, *step);
    return std::move(*step);
  }

  Result<std::string> Observation() override {
    if (auto lost = CheckAlive()) return tl::make_unexpected(*lost);
    const Protocol& protocol = servers_.protocol();
    const std::string path = protocol.AskPath("observation", session_->id);
    if (path.empty()) return Session::Observation();
    auto observation = servers_.Repeat([&] {
      return servers_.Get(*session_, path, [&](std::string_view reply) {
        return protocol.ParseObservation(reply, first_observation_);
      });
    });
    if (!observation) return tl::make_unexpected(Error(observation.error()));
    return std::move(*observation);
  }

  Result<std::vector<Fork>> Expand(const std::vector<std::string>& actions) override {
    if (auto lost = CheckAlive()) return tl::make_unexpected(*lost);
    const Protocol& protocol = servers_.protocol();
    auto replies = servers_.Repeat([&] {
      return servers_.Post(*session_, "/expand", protocol.ExpandBody(session_->id, actions),
                           /*repeatable=*/true, [&](std::string_view reply) {
                             return protocol.ParseExpand(reply, actions.size());
                           });
    });
    if (!replies) return tl::make_unexpected(Error(replies.error()));
    std::vector<Fork> forks;
    for (ForkReply& reply : *replies) {
      const ServerSession fork = servers_.AddFork(*session_, reply.id);
      RewardTally tally = tally_;
      reply.step.reward = protocol.RewardSoFar(tally, reply.step);
      forks.push_back({std::make_unique<HttpSession>(servers_, fork, /*is_fork=*/true, tally),
                       std::move(reply.step)});
    }
    return forks;
  }

  Result<std::vector<std::string>> Query(std::string_view extension) override {
    if (auto lost = CheckAlive()) return tl::make_unexpected(*lost);
    const Protocol& protocol = servers_.protocol();
    auto answer = servers_.Repeat([&] {
      return servers_.Get(
          *session_, protocol.AskPath(extension, session_->id),
          [&](std::string_view reply) { return protocol.ParseAnswer(extension, reply); });
    });
    if (!answer) return tl::make_unexpected(Error(answer.error()));
    return std::move(*answer);
  }

 private:
  Outcome<std::string> ResetOnce(int task_id) {
    if (session_ && !servers_.IsCurrent(*session_)) Leave(/*close=*/false);
    if (!session_) {
      AGENTR_ASSIGN_OR_RETURN(const auto opened, servers_.Create());
      session_ = opened;
      is_fork_ = false;
      answered_ = false;
    }
    const Protocol& protocol = servers_.protocol();
    auto observation = servers_.Post(
        *session_, "/reset", protocol.ResetBody(session_->id, task_id), /*repeatable=*/true,
        [&](std::string_view reply) { return protocol.ParseReset(reply); });
    if (observation && protocol.ObservesAfterReset()) {
      observation = servers_.Get(
          *session_, protocol.AskPath("observation", session_->id),
          [&](std::string_view reply) { return protocol.ParseObservation(reply, /*first=*/""); });
    }
    tally_ = {};
    tally_lost_ = false;
    // The server no longer listens: the next attempt uses another server, if there is one.
    if (!observation && !observation.error().sent && servers_.count() > 1) Leave(/*close=*/false);
    first_observation_ = observation ? *observation : "";
    if (observation) answered_ = true;
    return observation;
  }

  void Leave(bool close) {
    if (session_) servers_.Drop(*session_, close);
    session_.reset();
  }

  std::optional<Error> CheckAlive() const {
    if (tally_lost_) {
      return Error{ErrorKind::kSessionLost,
                   "the reply to a step was lost, and later rewards build on its reward; Reset the "
                   "session",
                   0};
    }
    if (session_) return std::nullopt;
    return Error{ErrorKind::kSessionLost,
                 "the session was never Reset, or its Reset failed; Reset it", 0};
  }

  EnvServerGroup& servers_;
  std::optional<ServerSession> session_;  // empty while it moves to another server
  bool is_fork_;
  RewardTally tally_;
  bool tally_lost_ = false;        // a step may be missing in tally_
  bool answered_ = false;          // whether a Reset of this session has succeeded
  std::string first_observation_;  // what the last Reset showed
};

}  // namespace

HttpEnvironment::HttpEnvironment(std::unique_ptr<Protocol> protocol,
                                 const std::vector<Secret>& bases, const HttpOptions& options)
    : servers_(std::make_unique<EnvServerGroup>(std::move(protocol), bases, options)) {}

HttpEnvironment::~HttpEnvironment() = default;

Result<std::unique_ptr<Session>> HttpEnvironment::Open() {
  const auto session = servers_->Repeat([&] { return servers_->Create(); });
  if (!session) return tl::make_unexpected(Error(session.error()));
  return std::make_unique<HttpSession>(*servers_, *session, /*is_fork=*/false);
}

bool HttpEnvironment::CanExpand() const { return servers_->can_expand(); }
int HttpEnvironment::DefaultSessions() const {
  const int per_server = servers_->protocol().SessionsPerServer();
  if (CanExpand() || per_server == 0) return Environment::DefaultSessions();
  return per_server * static_cast<int>(servers_->count());
}
bool HttpEnvironment::Offers(std::string_view extension) const {
  return std::ranges::find(info().extensions, extension) != info().extensions.end();
}
const ServerVersion& HttpEnvironment::info() const { return servers_->info(); }
const CallStats& HttpEnvironment::stats() const { return servers_->stats(); }

}  // namespace agentr
