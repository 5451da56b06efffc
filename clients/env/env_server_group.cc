#include "clients/env/env_server_group.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/text.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

// The longest time that the end of a session may take a run.
constexpr std::chrono::seconds kCloseWithin(2);

// 501: what Python's http.server says of a method that nobody wrote.
bool IsUnknownPath(const HttpError& error) {
  return error.status == 404 || error.status == 405 || error.status == 501;
}

bool Offers(const ServerVersion& version, const std::string& extension) {
  return std::ranges::find(version.extensions, extension) != version.extensions.end();
}

// Whether nothing of the reply got lost, so that it is what the server meant: JSON, a page, or what
// begins as JSON and is none before its end, such as Python's NaN and {'a': True}.
bool IsWhole(std::string_view reply) {
  if (reply.starts_with('<') || nlohmann::json::accept(reply)) return true;
  if (!reply.starts_with('{') && !reply.starts_with('[')) return false;
  try {
    [[maybe_unused]] const auto parsed = nlohmann::json::parse(reply);
  } catch (const nlohmann::json::parse_error& error) {
    return error.byte <= reply.size();
  } catch (const nlohmann::json::exception&) {
  }
  return true;
}

constexpr int kRead = -1;

std::string WithoutParameters(const std::string& path) { return path.substr(0, path.find('?')); }

std::string HashText(const std::string& data_hash) {
  return data_hash.empty() ? "unknown data" : "data " + data_hash;
}

}  // namespace

uint64_t SessionIds::Add(int64_t id) {
  std::lock_guard lock(mutex_);
  // The id is in use, so the server was restarted: all older sessions are lost.
  if (!live_.insert(id).second) {
    live_ = {id};
    ++epoch_;
  }
  return epoch_;
}

void SessionIds::EndAll(uint64_t epoch) {
  std::lock_guard lock(mutex_);
  // Another thread has already noticed this restart; its new sessions must survive.
  if (epoch != epoch_) return;
  live_.clear();
  ++epoch_;
}

void SessionIds::Remove(int64_t id, uint64_t epoch) {
  std::lock_guard lock(mutex_);
  if (epoch == epoch_) live_.erase(id);
}

EnvServerGroup::EnvServerGroup(std::unique_ptr<Protocol> protocol, const std::vector<Secret>& bases,
                               HttpOptions options)
    : protocol_(std::move(protocol)),
      options_(std::move(options)),
      balancer_(bases.size(), options_.cool_down_s) {
  options_.session_header = protocol_->SessionHeader();
  if (bases.empty()) throw FatalError(ExitCode::kUsage, "no environment server is given");
  for (const Secret& base : bases) {
    servers_.push_back(std::make_unique<Server>(base, protocol_->SocketPath(), options_, stats_));
  }
  std::string unreachable;
  for (size_t i = 0; i < servers_.size(); ++i) {
    const auto version = Repeat([&] { return AskVersion(i); });
    if (!version && version.error().kind == ErrorKind::kCancelled) {
      throw FatalError(ExitCode::kInterrupted, version.error().message);
    }
    if (!version) {
      unreachable += (unreachable.empty() ? "" : "; ") + version.error().message;
      continue;
    }
    const bool another = !version->task.empty() && version->task != protocol_->family();
    // A task file may call a kind by another name than its server does.
    if (another && !protocol_->Hash().empty()) {
      spdlog::info("{} calls its tasks {}", servers_[i]->client.base_url(), version->task);
    } else if (another) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("{} is a server for {}, not for {}: give --task {}, or another "
                                   "server",
                                   servers_[i]->client.base_url(), version->task,
                                   protocol_->family(), version->task));
    }
    if (version->server.empty()) {
      spdlog::warn(
          "{} has no /version of ours, so nothing tells what it serves: prompt, refusals and "
          "split are those of {}, as --task says",
          servers_[i]->client.base_url(), protocol_->family());
    }
    if (info_base_.empty()) {
      info_ = *version;
      server_hash_ = version->data_hash;
      info_base_ = servers_[i]->client.base_url();
    }
    const std::string misfit = Misfit(i, *version);
    if (!misfit.empty()) throw FatalError(ExitCode::kUnavailable, misfit);
    can_expand_ = can_expand_ && Offers(*version, "expand");
    servers_[i]->admitted = true;
  }
  if (info_base_.empty()) {
    throw FatalError(
        ExitCode::kUnavailable,
        fmt::format(
            "no environment server answers ({}); start one for {}{}", unreachable,
            protocol_->family(),
            protocol_->Hash().empty() ? " (env_server --help lists those that are built in)" : ""));
  }
  if (info_.tasks == 0) info_.tasks = protocol_->Tasks();
  if (!protocol_->Hash().empty()) info_.data_hash += "+" + protocol_->Hash();
  if (!unreachable.empty()) spdlog::warn("continuing without a server: {}", unreachable);
}

Outcome<ServerVersion> EnvServerGroup::AskVersion(size_t server) {
  if (servers_[server]->sockets) return AskHealth(server);
  const HttpResult reply = servers_[server]->client.Get("/version");
  if (!reply && IsUnknownPath(reply.error())) {
    stats_->ForgiveError(reply.error().kind);
    return ServerVersion{};
  }
  if (!reply) return Failed(server, reply.error());
  auto version = ParseVersion(reply->body);
  if (version) return std::move(*version);
  HttpError error = BadReply(server, "/version", reply->body, std::move(version.error())).value();
  if (error.kind != ErrorKind::kMalformed) return tl::make_unexpected(std::move(error));
  // Another server's route of this name.
  stats_->ForgiveError(error.kind);
  return ServerVersion{};
}

Outcome<ServerVersion> EnvServerGroup::AskHealth(size_t server) {
  const HttpResult reply = servers_[server]->client.Get("/health");
  if (!reply && !IsUnknownPath(reply.error())) return Failed(server, reply.error());
  if (!reply) stats_->ForgiveError(reply.error().kind);
  ServerVersion version;
  version.server = "openenv";
  return version;
}

std::string EnvServerGroup::Misfit(size_t server, const ServerVersion& version) const {
  if (version.data_hash == server_hash_) return "";
  return fmt::format(
      "the environment servers hold different data, so their tasks differ: {} has {}, {} has {}; "
      "give servers of the same version with the same data folder",
      info_base_, HashText(server_hash_), servers_[server]->client.base_url(),
      HashText(version.data_hash));
}

Outcome<bool> EnvServerGroup::AdmitLate(size_t server) {
  AGENTR_ASSIGN_OR_RETURN(const auto version, AskVersion(server));
  std::string misfit = Misfit(server, version);
  if (misfit.empty() && can_expand_ && !Offers(version, "expand")) {
    misfit = servers_[server]->client.base_url() + " has no /expand, unlike the other servers";
  }
  if (misfit.empty()) return servers_[server]->admitted = true;
  spdlog::error("{}; this server is not used", misfit);
  balancer_.Exclude(server);
  HttpError error;
  error.kind = ErrorKind::kUnreachable;  // another server may serve the next attempt
  error.message = misfit;
  return tl::make_unexpected(std::move(error));
}

Outcome<ServerSession> EnvServerGroup::Create() {
  const size_t server = balancer_.Acquire();
  std::optional<HttpError> error;
  if (!servers_[server]->admitted) {
    if (auto admitted = AdmitLate(server); !admitted) error = admitted.error();
  }
  if (!error) {
    Server& asked = *servers_[server];
    const HttpResult reply = asked.sockets ? asked.sockets->Create()
                                           : asked.client.Post(protocol_->PathOf("/create"),
                                                               protocol_->CreateBody(), true);
    const auto id = Read(server, "/create", reply, [&](std::string_view body) {
      const bool named = reply && !reply->session.empty();
      return named ? protocol_->ParseSession(reply->session) : protocol_->ParseCreate(body);
    });
    if (id) return ServerSession{server, *id, servers_[server]->ids.Add(*id), reply->instance};
    error = id.error();
  }
  // Only a failed Create gives its load back; a session keeps it until Drop.
  balancer_.Release(server);
  return tl::make_unexpected(std::move(*error));
}

ServerSession EnvServerGroup::AddFork(const ServerSession& parent, int64_t id) {
  balancer_.Acquire(parent.server);
  return {parent.server, id, servers_[parent.server]->ids.Add(id), parent.instance};
}

void EnvServerGroup::EndSessionsLike(const ServerSession& session) {
  Server& server = *servers_[session.server];
  // After a restart the data must be compared again.
  server.admitted = false;
  // Servers that name their starts refuse old sessions themselves.
  if (session.instance.empty()) server.ids.EndAll(session.epoch);
}

HttpError EnvServerGroup::Lost(const std::string& message) {
  HttpError error;
  error.kind = ErrorKind::kSessionLost;
  error.message = "the server has lost the session" + (message.empty() ? "" : ": " + message);
  return error;
}

void EnvServerGroup::Drop(const ServerSession& session, bool close) {
  Server& server = *servers_[session.server];
  const bool current = IsCurrent(session);
  // Must precede the close on the server, which may then give the id to another session.
  server.ids.Remove(session.id, session.epoch);
  balancer_.Release(session.server);
  // An environment of a server is free only once its connection has ended.
  if (server.sockets) {
    return server.sockets->Close(protocol_->CloseBody(session.id), session.instance);
  }
  const std::string path = protocol_->PathOf("/close");
  if (!close || !current || server.no_close || path.empty()) return;
  if (balancer_.CoolingDown(session.server)) return;
  const auto closed =
      server.client.Post(path, protocol_->CloseBody(session.id), true, session.instance,
                         Clock::now() + kCloseWithin, protocol_->RequestHeader(session.id));
  if (closed) return;
  if (IsUnknownPath(closed.error())) {
    server.no_close = true;
    stats_->ForgiveError(closed.error().kind);
  }
  // The sessions of a server that does not answer are not closed one after the other.
  Failed(session.server, closed.error());
}

tl::unexpected<HttpError> EnvServerGroup::Failed(size_t server, HttpError error) {
  if (error.kind == ErrorKind::kUnreachable || error.kind == ErrorKind::kTimeout) {
    balancer_.Fault(server);
  }
  return tl::make_unexpected(std::move(error));
}

void EnvServerGroup::NoteRead(const std::string& path) {
  const std::lock_guard lock(read_mutex_);
  unread_[WithoutParameters(path)] = kRead;
}

bool EnvServerGroup::WasNeverRead(const std::string& path) {
  constexpr int kMany = 5;
  const std::lock_guard lock(read_mutex_);
  int& count = unread_[WithoutParameters(path)];
  return count != kRead && ++count >= kMany;
}

tl::unexpected<HttpError> EnvServerGroup::BadReply(size_t server, const std::string& path,
                                                   std::string_view reply, Error error) {
  // A text of WebSocket is always whole.
  const bool whole = servers_[server]->sockets != nullptr || IsWhole(reply) || WasNeverRead(path);
  if (error.kind == ErrorKind::kProtocol && whole) {
    error.kind = ErrorKind::kMalformed;
    const std::string_view shape = protocol_->ReplyShape(path);
    if (!shape.empty()) {
      error.message +=
          fmt::format("; a server for {} replies {}, this one replied: {}", protocol_->family(),
                      shape, EscapeControls(reply.substr(0, 300)));
    }
  }
  stats_->AddError(error.kind);
  HttpError out;
  out.kind = error.kind;
  const HttpClient& client = servers_[server]->client;
  out.message = client.WithoutSecrets(
      fmt::format("{}{}: {}", client.base_url(), protocol_->PathOf(path), error.message));
  return tl::make_unexpected(std::move(out));
}

}  // namespace agentr
