// The servers behind an HttpEnvironment: which of them answer, what they offer, and one call to one
// of them. Internal to HttpEnvironment and its sessions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "clients/call_stats.h"
#include "clients/env/protocol.h"
#include "clients/http/http_client.h"
#include "clients/http/load_balancer.h"
#include "clients/http/retry.h"

namespace agentr {

// The value of a call, or its error together with whether the server may have seen the call.
template <typename T>
using Outcome = tl::expected<T, HttpError>;

// The ids that one server has given to live sessions. A server that was restarted begins to count
// anew, and an old session would then silently share another one's state. Ours tell their starts
// apart (kInstanceHeader). Of others an id that is given out again while it is in use, or a session
// that they have lost, proves the restart, and ends all sessions of the time before. Thread-safe.
class SessionIds {
 public:
  // Begins the life of `id`; the epoch that it belongs to.
  uint64_t Add(int64_t id);
  void Remove(int64_t id, uint64_t epoch);
  // Ends all sessions of `epoch`, if it is not over already.
  void EndAll(uint64_t epoch);
  bool IsCurrent(uint64_t epoch) const { return epoch == epoch_; }

 private:
  std::mutex mutex_;
  std::unordered_set<int64_t> live_;  // guarded by mutex_
  std::atomic<uint64_t> epoch_ = 0;
};

// A session on a server.
struct ServerSession {
  size_t server = 0;
  int64_t id = 0;
  uint64_t epoch = 0;
  std::string instance = "";  // the start of the server that it belongs to, where that is told
};

// Thread-safe.
class EnvServerGroup {
 public:
  // As HttpEnvironment's constructor.
  EnvServerGroup(std::unique_ptr<Protocol> protocol, const std::vector<std::string>& bases,
                 HttpOptions options);

  // One POST for a session, without repetition; `parse` makes the value (an Outcome or Result) from
  // the reply. Faults of the server and errors of parsing are noted here. A session that the server
  // does not know any more, or may have taken for another one, is the error IsLost, whatever the
  // reply was.
  template <typename Parse>
  auto Post(const ServerSession& session, const std::string& path, const std::string& body,
            bool repeatable, Parse&& parse)
      -> Outcome<typename decltype(parse(std::string_view()))::value_type> {
    if (!IsCurrent(session)) return tl::make_unexpected(Lost(""));
    HttpClient& client = servers_[session.server]->client;
    return Keep(session, Read(session.server, path,
                              client.Post(path, body, repeatable, session.instance), parse));
  }

  // The same with one GET.
  template <typename Parse>
  auto Get(const ServerSession& session, const std::string& path, Parse&& parse)
      -> Outcome<typename decltype(parse(std::string_view()))::value_type> {
    if (!IsCurrent(session)) return tl::make_unexpected(Lost(""));
    HttpClient& client = servers_[session.server]->client;
    return Keep(session, Read(session.server, path, client.Get(path, session.instance), parse));
  }

  // Repeats fn() by the options' policy while `again` says so.
  template <typename Fn, typename Again>
  auto Repeat(Fn&& fn, Again&& again) {
    return Retry(options_.retry, RandomStream(0).Split(++repeats_), *stats_, fn, again);
  }
  template <typename Fn>
  auto Repeat(Fn&& fn) {
    return Repeat(fn, [](const Error& error) { return IsTransient(error.kind); });
  }

  // A new session on the server with the least sessions; one attempt.
  Outcome<ServerSession> Create();

  // Counts a fork, so that it is looked after like the session it comes from.
  ServerSession AddFork(const ServerSession& parent, int64_t id);

  // Ends the session here; with `close` on the server too (one attempt, errors do not matter).
  void Drop(const ServerSession& session, bool close);

  bool IsCurrent(const ServerSession& session) const {
    return servers_[session.server]->ids.IsCurrent(session.epoch);
  }

  static bool IsLost(const HttpError& error) {
    constexpr int kGone = 410;  // what our servers answer to a session of an earlier start
    return error.kind == ErrorKind::kSessionLost || error.status == kGone;
  }

  const Protocol& protocol() const { return *protocol_; }
  size_t count() const { return servers_.size(); }
  bool can_expand() const { return can_expand_; }
  const ServerVersion& info() const { return info_; }
  const CallStats& stats() const { return *stats_; }

 private:
  struct Server {
    Server(const std::string& base, const HttpOptions& options, std::shared_ptr<CallStats> stats)
        : client(base, options, std::move(stats)) {}
    HttpClient client;
    SessionIds ids;
    std::atomic<bool> admitted = false;  // its data has been compared with the others', and it has
                                         // not been restarted since
    std::atomic<bool> no_close = false;  // it does not know /close
  };

  template <typename Parse>
  auto Read(size_t server, const std::string& path, const HttpResult& reply, Parse&& parse)
      -> Outcome<typename decltype(parse(std::string_view()))::value_type> {
    if (!reply) return Failed(server, reply.error());
    auto value = parse(std::string_view(reply->body));
    if (!value) return BadReply(server, path, std::move(value.error()));
    return std::move(*value);
  }

  // The outcome of a call for `session`, if it is of that session.
  template <typename T>
  Outcome<T> Keep(const ServerSession& session, Outcome<T> outcome) {
    const bool lost =
        !outcome && (IsLost(outcome.error()) || protocol_->IsLostSession(outcome.error()));
    if (!lost && (!outcome || IsCurrent(session))) return outcome;
    EndSessionsLike(session);
    return tl::make_unexpected(Lost(outcome ? "" : outcome.error().message));
  }
  // Where one session is lost the server may have been restarted, and may hold other data now.
  void EndSessionsLike(const ServerSession& session);
  static HttpError Lost(const std::string& message);

  tl::unexpected<HttpError> Failed(size_t server, HttpError error);
  tl::unexpected<HttpError> BadReply(size_t server, const std::string& path, Error error);

  // The server's version; all fields empty where it does not know /version.
  Outcome<ServerVersion> AskVersion(size_t server);
  // Nothing if `version` fits to the servers admitted before, else why not.
  std::string Misfit(size_t server, const ServerVersion& version) const;
  // A server that did not answer at the start is asked before its first session.
  Outcome<bool> AdmitLate(size_t server);

  const std::unique_ptr<Protocol> protocol_;
  const HttpOptions options_;
  const std::shared_ptr<CallStats> stats_ = std::make_shared<CallStats>();
  std::vector<std::unique_ptr<Server>> servers_;
  LoadBalancer balancer_;
  // Set by the constructor.
  ServerVersion info_;
  std::string info_base_;
  bool can_expand_ = true;

  std::atomic<uint64_t> repeats_ = 0;  // numbers the random streams of the waits
};

}  // namespace agentr
