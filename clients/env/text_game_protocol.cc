#include "clients/env/text_game_protocol.h"

#include <fmt/format.h>

#include "clients/http/json_fields.h"

namespace agentr {

Result<std::string> TextGameProtocol::ParseObservation(std::string_view reply,
                                                       std::string_view first) const {
  const std::string what = "/observation reply";
  AGENTR_ASSIGN_OR_RETURN(const auto object, ReplyObject(reply, what));
  auto observation = Field<std::string>(object, "observation");
  if (!observation) {
    return Fail(observation.error().kind, fmt::format("{}: {}", what, observation.error().message));
  }
  if (!observation->starts_with("Your goal: ")) return observation;
  if (*observation == first) {
    return Fail(ErrorKind::kEnvironment, what +
                                             ": it shows the beginning of the episode, to which "
                                             "a step may have led back");
  }
  return observation->substr(observation->find('\n') + 1);
}

}  // namespace agentr
