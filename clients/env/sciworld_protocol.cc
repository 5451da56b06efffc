#include "clients/env/sciworld_protocol.h"

#include "clients/http/json_fields.h"

namespace agentr {

std::string SciWorldProtocol::CreateBody() const { return ""; }

Result<std::string> SciWorldProtocol::ParseReset(std::string_view reply) const {
  Result<std::string> observation = Protocol::ParseReset(reply);
  if (!observation) return observation;
  const auto object = ReplyObject(reply, "/reset reply");
  const auto description = Field<std::string>(*object, "task_description");
  if (!description) {
    return Fail(description.error().kind, "/reset reply: " + description.error().message);
  }
  return *description + "\n" + *observation;
}

Result<StepResult> SciWorldProtocol::StepOf(const nlohmann::json& object) const {
  Result<StepResult> step = Protocol::StepOf(object);
  if (step) step->reward /= 100;
  return step;
}

std::string_view SciWorldProtocol::ReplyShape(std::string_view path) const {
  if (path == "/reset") return R"({"task_description": text, "observation": text})";
  if (path == "/step") return R"({"observation": text, "score": number, "done": true or false})";
  return Protocol::ReplyShape(path);
}

}  // namespace agentr
