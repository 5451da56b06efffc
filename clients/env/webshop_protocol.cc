#include "clients/env/webshop_protocol.h"

#include <utility>

#include "clients/http/json_fields.h"
#include "common/json_depth.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

Json Parse(std::string_view reply) { return ParseJson(reply); }

// The error for an unexpected reply: an environment's error, text that is not JSON, or another
// shape.
tl::unexpected<Error> Misfit(std::string_view reply, const std::string& what,
                             const std::string& expected) {
  const Result<Json> object = ReplyObject(reply, what);
  if (!object && object.error().kind == ErrorKind::kEnvironment) {
    return tl::make_unexpected(object.error());
  }
  if (Parse(reply).is_discarded()) return tl::make_unexpected(object.error());
  return Fail(ErrorKind::kProtocol, what + ": is not " + expected);
}

}  // namespace

std::string WebShopProtocol::CreateBody() const { return ""; }

Result<int64_t> WebShopProtocol::ParseCreate(std::string_view reply) const {
  const Json id = Parse(reply);
  if (!IsJson<int64_t>(id)) return Misfit(reply, "/create reply", "an integer");
  return id.get<int64_t>();
}

std::string WebShopProtocol::ResetBody(int64_t id, int task_id) const {
  return DumpJson({{IdField(), id}, {"session_id", task_id}});
}

Result<std::string> WebShopProtocol::ParseReset(std::string_view reply) const {
  Json pair = Parse(reply);
  if (!pair.is_array() || pair.size() != 2 || !pair.front().is_string()) {
    return Misfit(reply, "/reset reply", "a pair of the observation and null");
  }
  return std::move(pair.front().get_ref<std::string&>());
}

std::string_view WebShopProtocol::ReplyShape(std::string_view path) const {
  if (path == "/create") return "an integer";
  if (path == "/reset") return "[text, null]";
  if (path == "/step") return R"({"state": text, "reward": number, "done": true or false})";
  return Protocol::ReplyShape(path);
}

}  // namespace agentr
