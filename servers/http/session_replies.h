// Replies that are the same for the services of all environments.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "servers/http/http_service.h"
#include "servers/http/json_text.h"
#include "servers/http/session_store.h"

namespace agentr {

// The largest number of actions of one /expand.
constexpr size_t kMaxExpandActions = 1024;

// {"error": "The id 7 is not valid."} with status 200, like AgentGym's servers; `field` is "id".
HttpResponse NotValid(std::string_view field, int64_t id);

// Throws HttpStatusError(503) for the limit of live sessions.
[[noreturn]] void ThrowFull();

// What SessionStore::Create and Fork return where there is room; else ThrowFull.
template <typename T>
T OrFull(std::optional<T> made) {
  if (!made) ThrowFull();
  return *std::move(made);
}

// The handler of /close: true, or false if the session with the id in `field` was not live.
template <typename State>
HttpHandler CloseHandler(SessionStore<State>& sessions, const char* field) {
  return [&sessions, field](const HttpRequest& request) {
    const int64_t id = IntField(ParseObject(request.body), field);
    return HttpResponse{.body = sessions.Close(id) ? "true" : "false"};
  };
}

// The "actions" of a request. Throws HttpStatusError(422) for too many.
std::vector<std::string> ActionsOf(const nlohmann::json& body);

// The reply to /expand, {"children": [{FIELD: id, …}, …]}. append(i, out) appends the other members
// of child i.
template <typename Append>
std::string ChildrenJson(std::string_view field, const std::vector<int64_t>& ids,
                         const Append& append) {
  std::string out = R"({"children":[)";
  for (size_t i = 0; i < ids.size(); ++i) {
    out += fmt::format("{}{{\"{}\":{},", i == 0 ? "" : ",", field, ids[i]);
    append(i, out);
    out += '}';
  }
  return out + "]}";
}

// The handler of /version. `extensions`: a JSON array.
HttpHandler VersionHandler(std::string_view task, std::string_view data_hash,
                           std::string_view extensions, size_t tasks);

// The integer parameter `field` of the query. Throws HttpStatusError(422).
int64_t IntParameter(const HttpRequest& request, const std::string& field);

// Appends lines for /metrics.
void AppendSessionMetrics(const SessionCounts& counts, std::string& out);

}  // namespace agentr
