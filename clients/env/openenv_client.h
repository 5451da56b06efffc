// The calls of EnvServerGroup to an OpenEnv server: every session is a connection of WebSocket, and
// each call a text and its answer. A connection has a number, which is the session's id and, as a
// text, its instance.
#pragma once

#include <memory>
#include <string>

#include "clients/call_stats.h"
#include "clients/env/web_sockets.h"
#include "clients/http/http_client.h"

namespace agentr {

// Thread-safe. Errors besides those of HttpClient:
//   status 410      the connection is gone, and the session with it
//   kMalformed      the other side speaks another protocol
//   kEnvironment    the server cannot make the environment
class OpenEnvClient {
 public:
  // `path`: that of the connections ("/ws"). `server` and `options` outlive it.
  OpenEnvClient(const HttpClient& server, const std::string& path, const HttpOptions& options,
                std::shared_ptr<CallStats> stats);

  // A connection with an environment of its own: {"id": number}. While the server has no free
  // environment (CAPACITY_REACHED) it is asked again, for kSlotWaits times options.retry.sleep of
  // kSlotWait_s; after that the error is kRejected and names the cure.
  HttpResult Create();
  static constexpr double kSlotWait_s = 0.5;
  static constexpr int kSlotWaits = 120;

  // Sends `frame` on the connection `instance`; the body of the result is the next frame.
  HttpResult Ask(const std::string& frame, const std::string& instance);

  // Says `frame` and waits shortly until the server has closed, so that its environment is free.
  void Close(const std::string& frame, const std::string& instance);

  // How many environments the server makes at once: opens connections until it refuses, at most
  // `most`, and closes them. 0 if not even one can be had.
  int CountSlots(int most);

 private:
  HttpError ErrorOf(const HttpFailure& failure) const;
  // nullopt: the server has no free environment; `full` is its message.
  tl::expected<std::optional<WebSockets::Number>, HttpError> Open(std::string& full);
  tl::unexpected<HttpError> Counted(HttpError error);

  const HttpClient& server_;
  const HttpOptions& options_;
  const std::shared_ptr<CallStats> stats_;
  const std::string url_;  // for messages
  WebSockets sockets_;
};

}  // namespace agentr
