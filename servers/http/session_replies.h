// What the services of all environments answer alike.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "servers/http/http_service.h"
#include "servers/http/session_store.h"

namespace agentr {

// The most actions of one /expand.
constexpr size_t kMaxExpandActions = 1024;

// {"error": "The id 7 is not valid."} with status 200, as AgentGym's servers; `field` is "id".
HttpResponse NotValid(std::string_view field, int64_t id);

// At the limit of live sessions: throws HttpStatusError(503).
[[noreturn]] void ThrowFull();

// The "actions" of a request. Throws HttpStatusError(422) for too many.
std::vector<std::string> ActionsOf(const nlohmann::json& body);

// The integer parameter `field` of the query. Throws HttpStatusError(422).
int64_t IntParameter(const HttpRequest& request, const std::string& field);

// Lines for /metrics.
void AppendSessionMetrics(const SessionCounts& counts, std::string& out);

}  // namespace agentr
