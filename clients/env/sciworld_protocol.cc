#include "clients/env/sciworld_protocol.h"

#include <utility>

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
  AGENTR_ASSIGN_OR_RETURN(auto observation, Field<std::string>(object, ObservationField()));
  AGENTR_ASSIGN_OR_RETURN(const auto score, Field<double>(object, "score"));
  AGENTR_ASSIGN_OR_RETURN(const auto done, Field<bool>(object, "done"));
  return StepResult{std::move(observation), score / 100, done};
}

}  // namespace agentr
