#include "clients/env/openenv_client.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {
namespace {

constexpr std::chrono::milliseconds kLeaveWithin(2000);
constexpr std::string_view kClose = R"({"type":"close"})";
constexpr std::string_view kState = R"({"type":"state"})";

std::string TextAt(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

OpenEnvClient::OpenEnvClient(const HttpClient& server, const std::string& path,
                             const HttpOptions& options, std::shared_ptr<CallStats> stats)
    : server_(server),
      options_(options),
      stats_(std::move(stats)),
      url_(server.base_url() + path),
      sockets_(server.origin(), server.Target(path), server.header_lines(), options) {}

HttpError OpenEnvClient::ErrorOf(const HttpFailure& failure) const {
  HttpError error = TransportError(failure, url_, options_);
  if (!error.sent && server_.origin().proxy) {
    error.message += "; it is reached without the proxy, which WebSocket does not use";
  }
  if (failure.fault == HttpFault::kMalformed) {
    error.sent = false;
    error.kind = ErrorKind::kRejected;
    error.message = fmt::format(
        "{}: the server opens no WebSocket there ({}); is it an OpenEnv server, and is its base "
        "URL right?",
        url_, failure.detail);
  }
  error.message = server_.WithoutSecrets(std::move(error.message));
  return error;
}

tl::unexpected<HttpError> OpenEnvClient::Counted(HttpError error) {
  stats_->AddError(error.kind);
  return tl::make_unexpected(std::move(error));
}

// A server accepts every connection and only then says that it has no environment for it. It says
// nothing if it has one, so it is asked for its state.
tl::expected<std::optional<WebSockets::Number>, HttpError> OpenEnvClient::Open(std::string& full) {
  const auto opened = sockets_.Open();
  if (!opened) return tl::make_unexpected(ErrorOf(opened.error()));
  const auto state = sockets_.Exchange(*opened, std::string(kState));
  stats_->AddCall(kState.size(), state ? state->size() : 0);
  if (!state) return tl::make_unexpected(ErrorOf(state.error()));
  const nlohmann::json frame = ParseJson(*state);
  const std::string type = frame.is_object() ? TextAt(frame, "type") : "";
  if (type != "state" && type != "error") {
    sockets_.Close(*opened, std::string(kClose), std::chrono::milliseconds(0));
    HttpError error;
    error.kind = ErrorKind::kMalformed;
    error.message = server_.WithoutSecrets(
        fmt::format("{}: this is no OpenEnv server: it answers {} with {}", url_, kState,
                    EscapeControls(std::string_view(*state).substr(0, 300))));
    return tl::make_unexpected(std::move(error));
  }
  const nlohmann::json data = frame.contains("data") ? frame["data"] : nlohmann::json();
  const std::string code = data.is_object() ? TextAt(data, "code") : "";
  const bool is_full = type == "error" && code == "CAPACITY_REACHED";
  if (!is_full && code != "FACTORY_ERROR" && code != "SESSION_ERROR") return *opened;
  sockets_.Close(*opened, std::string(kClose), std::chrono::milliseconds(0));
  const std::string says = server_.WithoutSecrets(EscapeControls(TextAt(data, "message")));
  if (is_full) {
    full = says;
    return std::nullopt;
  }
  HttpError error;
  error.kind = ErrorKind::kEnvironment;
  error.message = fmt::format("{}: the server makes no environment ({}): {}", url_, code, says);
  return tl::make_unexpected(std::move(error));
}

HttpResult OpenEnvClient::Create() {
  std::string full;
  for (int waits = 0;; ++waits) {
    auto opened = Open(full);
    if (!opened) return Counted(std::move(opened.error()));
    if (*opened) {
      return HttpReply{200, fmt::format(R"({{"id":{}}})", **opened), std::to_string(**opened)};
    }
    HttpError error;
    error.kind = ErrorKind::kRejected;
    error.message = fmt::format(
        "{}: all environments of the server are in use ({}), for {:g} s now: end the other runs on "
        "it, start it again if connections of dead clients hold them, start more servers, or let "
        "it "
        "make more at once (max_concurrent_envs of its create_app, often MAX_CONCURRENT_ENVS); "
        "[session] sessions_per_server of the task file says how many this run may use",
        url_, full, kSlotWaits * kSlotWait_s);
    if (waits == kSlotWaits) return Counted(std::move(error));
    if (waits == 0) {
      spdlog::info("{}: all environments of the server are in use ({}); waiting for one", url_,
                   full);
    }
    if (!options_.retry.sleep(kSlotWait_s)) {
      error.kind = ErrorKind::kCancelled;
      return Counted(std::move(error));
    }
  }
}

HttpResult OpenEnvClient::Ask(const std::string& frame, const std::string& instance) {
  constexpr int kGone = 410;
  const auto number = ParseNumber<WebSockets::Number>(instance);
  auto answer = number ? sockets_.Exchange(*number, frame)
                       : tl::make_unexpected(HttpFailure{HttpFault::kBroken, "it is gone"});
  stats_->AddCall(frame.size(), answer ? answer->size() : 0);
  if (answer) return HttpReply{200, std::move(*answer), ""};
  HttpError error = ErrorOf(answer.error());
  if (answer.error().fault == HttpFault::kBroken) error.status = kGone;
  return Counted(std::move(error));
}

void OpenEnvClient::Close(const std::string& frame, const std::string& instance) {
  if (const auto number = ParseNumber<WebSockets::Number>(instance)) {
    sockets_.Close(*number, frame, kLeaveWithin);
  }
}

int OpenEnvClient::CountSlots(int most) {
  std::vector<WebSockets::Number> open;
  std::string full;
  while (static_cast<int>(open.size()) < most) {
    const auto opened = Open(full);
    if (!opened || !*opened) break;
    open.push_back(**opened);
  }
  for (const auto number : open) sockets_.Close(number, std::string(kClose), kLeaveWithin);
  return static_cast<int>(open.size());
}

}  // namespace agentr
