#include "rollout/slip_json.h"

#include <string>

#include "common/json_fields.h"

namespace agentr {

nlohmann::ordered_json SlipToJson(const Slip& slip) {
  nlohmann::ordered_json json = {{"said", slip.said}};
  if (!slip.response.empty()) json["response"] = slip.response;
  if (slip.lost) json["lost"] = true;
  if (slip.changed_state) json["changed_state"] = true;
  if (slip.undone_after > 0) json["undone_after"] = slip.undone_after;
  return json;
}

std::optional<Slip> ReadSlip(const nlohmann::ordered_json& turn) {
  const auto found = turn.find("slip");
  if (found == turn.end()) return std::nullopt;
  Slip slip;
  slip.said = JsonField<std::string>(*found, "said");
  slip.response = JsonFieldOr<std::string>(*found, "response", "");
  slip.lost = JsonFieldOr<bool>(*found, "lost", false);
  slip.changed_state = JsonFieldOr<bool>(*found, "changed_state", false);
  slip.undone_after = JsonFieldOr<int>(*found, "undone_after", 0);
  return slip;
}

}  // namespace agentr
