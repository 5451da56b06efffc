// The servers behind an HttpEnvironment: knows which of them answer and what they offer, and makes
// single calls to them. Internal to HttpEnvironment and its sessions.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "clients/call_stats.h"
#include "clients/env/openenv_client.h"
#include "clients/env/protocol.h"
#include "clients/http/http_client.h"
#include "clients/http/load_balancer.h"
#include "clients/http/retry.h"

namespace agentr {

// The value of a call, or its error, which also tells whether the server may have seen the call.
template <typename T>
using Outcome = tl::expected<T, HttpError>;

// The ids that one server has given to live sessions. A restarted server counts from the beginning
// again, so an old session could silently share the state of a new one. Our own servers name each
// start (kInstanceHeader). For other servers, an id that is given out while it is in use, or a lost
// session, proves a restart and ends all earlier sessions. Thread-safe.
class SessionIds {
 public:
  // Records `id` as live; returns the epoch that it belongs to.
  uint64_t Add(int64_t id);
  void Remove(int64_t id, uint64_t epoch);
  // Ends all sessions of `epoch` unless it has already ended.
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
  std::string instance = "";  // the server start that it belongs to; empty if the server does not
                              // name its starts
};

// Thread-safe.
class EnvServerGroup {
 public:
  // Same contract as HttpEnvironment's constructor.
  EnvServerGroup(std::unique_ptr<Protocol> protocol, const std::vector<Secret>& bases,
                 HttpOptions options);

  // One POST of the protocol's call `path` for a session, without repetition; `parse` makes the
  // value (an Outcome or Result) from the reply. Server faults and parse errors are counted here.
  // If the server no longer knows the session, or may have mistaken it for another one, the error
  // satisfies IsLost, whatever the reply was.
  template <typename Parse>
  auto Post(const ServerSession& session, const std::string& path, const std::string& body,
            bool repeatable, Parse&& parse)
      -> Outcome<typename decltype(parse(std::string_view()))::value_type> {
    if (!IsCurrent(session)) return tl::make_unexpected(Lost(""));
    Server& server = *servers_[session.server];
    const HttpResult reply =
        server.sockets
            ? server.sockets->Ask(body, session.instance)
            : server.client.Post(protocol_->PathOf(path), body, repeatable, session.instance, {},
                                 protocol_->RequestHeader(session.id));
    return Keep(session, Read(session.server, path, reply, parse));
  }

  // The same with one GET.
  template <typename Parse>
  auto Get(const ServerSession& session, const std::string& path, Parse&& parse)
      -> Outcome<typename decltype(parse(std::string_view()))::value_type> {
    if (!IsCurrent(session)) return tl::make_unexpected(Lost(""));
    HttpClient& client = servers_[session.server]->client;
    return Keep(
        session,
        Read(session.server, path,
             client.Get(path, session.instance, {}, protocol_->RequestHeader(session.id)), parse));
  }

  // Repeats fn() according to the options' policy while `again` is true for its error.
  template <typename Fn, typename Again>
  auto Repeat(Fn&& fn, Again&& again) {
    return Retry(options_.retry, RandomStream(0).Split(++repeats_), *stats_, fn, again);
  }
  template <typename Fn>
  auto Repeat(Fn&& fn) {
    return Repeat(fn, [](const Error& error) { return IsTransient(error.kind); });
  }

  // Opens a session on the server with the fewest sessions; one attempt.
  Outcome<ServerSession> Create();

  // Counts a fork as a session on the server of its parent.
  ServerSession AddFork(const ServerSession& parent, int64_t id);

  // Ends the session here and, with `close`, on the server too (one attempt; errors are ignored).
  void Drop(const ServerSession& session, bool close);

  bool IsCurrent(const ServerSession& session) const {
    return servers_[session.server]->ids.IsCurrent(session.epoch);
  }

  static bool IsLost(const HttpError& error) {
    constexpr int kGone = 410;  // our servers' answer to a session of an earlier start
    return error.kind == ErrorKind::kSessionLost || error.status == kGone;
  }

  const Protocol& protocol() const { return *protocol_; }
  size_t count() const { return servers_.size(); }
  bool can_expand() const { return can_expand_; }
  const ServerVersion& info() const { return info_; }
  const CallStats& stats() const { return *stats_; }

 private:
  struct Server {
    Server(const Secret& base, const std::string& socket_path, const HttpOptions& options,
           const std::shared_ptr<CallStats>& stats)
        : client(base, options, stats) {
      if (socket_path.empty()) return;
      sockets = std::make_unique<OpenEnvClient>(client, socket_path, options, stats);
    }
    HttpClient client;
    std::unique_ptr<OpenEnvClient> sockets;  // if the protocol has a SocketPath
    SessionIds ids;
    std::atomic<bool> admitted = false;  // its data matches the other servers' data, and it has not
                                         // restarted since the comparison
    std::atomic<bool> no_close = false;  // it has no /close
  };

  template <typename Parse>
  auto Read(size_t server, const std::string& path, const HttpResult& reply, Parse&& parse)
      -> Outcome<typename decltype(parse(std::string_view()))::value_type> {
    if (!reply) return Failed(server, reply.error());
    auto value = parse(std::string_view(reply->body));
    if (!value) return BadReply(server, path, reply->body, std::move(value.error()));
    NoteRead(path);
    return std::move(*value);
  }

  // The outcome of a call, or the error Lost if it may belong to another session than `session`.
  template <typename T>
  Outcome<T> Keep(const ServerSession& session, Outcome<T> outcome) {
    const bool lost = !outcome && (IsLost(outcome.error()) || SaysLost(outcome.error()));
    if (!lost && (!outcome || IsCurrent(session))) return outcome;
    EndSessionsLike(session);
    return tl::make_unexpected(Lost(outcome ? "" : outcome.error().message));
  }
  // Whether the server says so: in a reply, or in that of a refusal (400, 403, 422).
  bool SaysLost(const HttpError& error) const {
    if (error.kind != ErrorKind::kRejected) return protocol_->IsLostSession(error);
    return protocol_->IsLostSession({ErrorKind::kEnvironment, error.body, 0});
  }
  // Ends all sessions of the same epoch. A lost session may mean that the server was restarted,
  // possibly with other data.
  void EndSessionsLike(const ServerSession& session);
  static HttpError Lost(const std::string& message);

  tl::unexpected<HttpError> Failed(size_t server, HttpError error);
  // Notes that a reply to a call of this path could be read.
  void NoteRead(const std::string& path);
  // Counts a reply that could not be read; true if there were many and none of the path ever could,
  // so that it is not the network that spoils them.
  bool WasNeverRead(const std::string& path);

  // The error of a reply that could not be read; kMalformed if the reply is what the server meant.
  tl::unexpected<HttpError> BadReply(size_t server, const std::string& path, std::string_view reply,
                                     Error error);

  // The server's version; all fields are empty if the server has no /version of our kind.
  Outcome<ServerVersion> AskVersion(size_t server);
  // The same for an OpenEnv server, which has none: whether it answers.
  Outcome<ServerVersion> AskHealth(size_t server);
  // Empty if `version` matches the servers admitted before, else the reason why it does not.
  std::string Misfit(size_t server, const ServerVersion& version) const;
  // Compares a server that did not answer at start-up, before its first session.
  Outcome<bool> AdmitLate(size_t server);

  const std::unique_ptr<Protocol> protocol_;
  HttpOptions options_;
  const std::shared_ptr<CallStats> stats_ = std::make_shared<CallStats>();
  std::vector<std::unique_ptr<Server>> servers_;
  LoadBalancer balancer_;
  // Set by the constructor.
  ServerVersion info_;  // its data_hash has the protocol's Hash too
  std::string server_hash_;
  std::string info_base_;
  bool can_expand_ = true;

  std::mutex read_mutex_;
  // By path: replies that could not be read before the first that could; kRead from then on.
  // Guarded by read_mutex_.
  std::map<std::string, int> unread_;

  std::atomic<uint64_t> repeats_ = 0;  // numbers the random streams of the waits
};

}  // namespace agentr
