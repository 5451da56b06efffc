#include "clients/env/openenv_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/json_depth.h"

namespace agentr {
namespace {

using FrameJson = nlohmann::ordered_json;

std::string FieldText(const FrameJson& object, const char* name) {
  if (!object.is_object() || !object.contains(name)) return "";
  const FrameJson& value = object.at(name);
  return value.is_string() ? value.get<std::string>() : DumpJson(value);
}

const FrameJson& DataOf(const FrameJson& frame) {
  static const FrameJson kNothing;
  return frame.is_object() && frame.contains("data") ? frame.at("data") : kNothing;
}

bool IsError(const FrameJson& frame) { return FieldText(frame, "type") == "error"; }

// What a VALIDATION_ERROR complains about, as pydantic's list of errors.
struct Complaints {
  std::string all;     // "message: Field required; …"
  std::string fields;  // the action's own fields that are missing or unknown
};

Complaints ComplaintsIn(const FrameJson& data) {
  Complaints complaints;
  if (!data.contains("errors") || !data.at("errors").is_array()) return complaints;
  const auto add = [](std::string& list, const std::string& text) {
    list += (list.empty() ? "" : "; ") + text;
  };
  for (const FrameJson& error : data.at("errors")) {
    std::string place;
    size_t depth = 0;
    if (error.is_object() && error.contains("loc") && error.at("loc").is_array()) {
      depth = error.at("loc").size();
      for (const FrameJson& part : error.at("loc")) {
        place += (place.empty() ? "" : ".") +
                 (part.is_string() ? part.get<std::string>() : DumpJson(part));
      }
    }
    const std::string text = fmt::format("{}: {}", place, FieldText(error, "msg"));
    add(complaints.all, text);
    const std::string type = FieldText(error, "type");
    if (depth == 1 && (type == "missing" || type == "extra_forbidden")) {
      add(complaints.fields, text);
    }
  }
  return complaints;
}

}  // namespace

std::string OpenEnvProtocol::PathOf(std::string_view call) const {
  return fmt::format("{} {}", dialect().socket, call.substr(std::min<size_t>(1, call.size())));
}

Result<int64_t> OpenEnvProtocol::ParseCreate(std::string_view reply) const {
  AGENTR_ASSIGN_OR_RETURN(const Json value, Parsed(reply, "/create"));
  return value.at("id").get<int64_t>();
}

std::string OpenEnvProtocol::StepBody(int64_t id, std::string_view action) const {
  std::string body = DialectProtocol::StepBody(id, action);
  if (!dialect().calls_tools) return body;
  const Json frame = ParseJson<Json>(body);
  const bool lists = FieldText(DataOf(frame), "tool_name") == "list_tools";
  return lists ? R"({"type":"step","data":{"type":"list_tools"}})" : body;
}

Result<StepResult> OpenEnvProtocol::ParseStep(std::string_view reply) const {
  AGENTR_ASSIGN_OR_RETURN(Json frame, Parsed(reply, "/step"));
  const Json data = DataOf(frame);
  const std::string code = IsError(frame) ? FieldText(data, "code") : "";
  if (code == "VALIDATION_ERROR") {
    const Complaints complaints = ComplaintsIn(data);
    if (!complaints.fields.empty()) {
      return Fail(ErrorKind::kProtocol,
                  fmt::format("the server's actions have other fields than [step] body of the task "
                              "file ({}); its /schema names them",
                              complaints.fields));
    }
    const std::string& why = complaints.all.empty() ? FieldText(data, "message") : complaints.all;
    return StepResult{std::string(kRefusal) + why, kNoReward, false};
  }
  if (code == "EXECUTION_ERROR") {
    const std::string says = FieldText(data, "message");
    if (IsFault(says)) return Fail(ErrorKind::kEnvironment, "the environment says: " + says);
    return StepResult{"The action failed: " + says, kNoReward, false};
  }
  AGENTR_ASSIGN_OR_RETURN(const Json content, Content(std::move(frame), "/step"));
  return StepIn(content);
}

bool OpenEnvProtocol::IsLostSession(const Error& error) const {
  return error.kind == ErrorKind::kEnvironment &&
         std::ranges::any_of(dialect().lost,
                             [&](const Pattern& p) { return p.Matches(error.message); });
}

Result<OpenEnvProtocol::Json> OpenEnvProtocol::Content(Json frame, std::string_view call) const {
  const Json& data = DataOf(frame);
  if (IsError(frame)) {
    const std::string code = FieldText(data, "code");
    const bool misunderstood =
        code == "INVALID_JSON" || code == "UNKNOWN_TYPE" || code == "VALIDATION_ERROR";
    return Fail(
        misunderstood ? ErrorKind::kProtocol : ErrorKind::kEnvironment,
        fmt::format("{}: the environment says: {} ({})", call, FieldText(data, "message"), code));
  }
  if (FieldText(frame, "type") != "observation" || !data.is_object()) {
    return Fail(
        ErrorKind::kProtocol,
        fmt::format("{}: the answer is no {{\"type\": \"observation\", \"data\": …}}", call));
  }
  return DialectProtocol::Content(data, call);
}

}  // namespace agentr
