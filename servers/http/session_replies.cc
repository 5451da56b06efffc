#include "servers/http/session_replies.h"

#include <fmt/format.h>

#include "common/text.h"
#include "common/version.h"
#include "servers/http/http_metrics.h"

namespace agentr {

HttpResponse NotValid(std::string_view field, int64_t id) {
  return {.body = ErrorJson(fmt::format("The {} {} is not valid.", field, id))};
}

void ThrowFull() {
  throw HttpStatusError(
      503,
      "The server is at its limit of live sessions; close some, or start it with a "
      "larger --max_sessions.");
}

std::vector<std::string> ActionsOf(const nlohmann::json& body) {
  std::vector<std::string> actions = StringsField(body, "actions");
  if (actions.size() > kMaxExpandActions) {
    throw HttpStatusError(422, fmt::format("At most {} actions at once.", kMaxExpandActions));
  }
  return actions;
}

HttpHandler VersionHandler(std::string_view task, std::string_view data_hash,
                           std::string_view extensions, size_t tasks) {
  return [text = fmt::format(R"({{"server":"agentr","version":"{}","task":"{}","data_hash":"{}",)"
                             R"("extensions":{},"tasks":{}}})",
                             kVersion, task, data_hash, extensions, tasks)](const HttpRequest&) {
    return HttpResponse{.body = text};
  };
}

int64_t IntParameter(const HttpRequest& request, const std::string& field) {
  const std::string text = request.Parameter(field).value_or("");
  const std::optional<int64_t> value = ParseNumber<int64_t>(text);
  if (!value)
    throw HttpStatusError(422, fmt::format("The parameter '{}' must be an integer.", field));
  return *value;
}

void AppendSessionMetrics(const SessionCounts& counts, std::string& out) {
  AppendMetric("agentr_sessions_live", "gauge", "Open sessions, including forks.", counts.live,
               out);
  AppendMetric("agentr_sessions_created_total", "counter", "Sessions made.", counts.created, out);
  AppendMetric("agentr_sessions_closed_total", "counter", "Sessions closed.", counts.closed, out);
  AppendMetric("agentr_sessions_expired_total", "counter", "Sessions dropped after --session_ttl.",
               counts.expired, out);
}

}  // namespace agentr
