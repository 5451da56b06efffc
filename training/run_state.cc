#include "training/run_state.h"

#include <fmt/core.h>

#include "common/error.h"
#include "common/json_fields.h"
#include "training/checkpoint/checkpoint.h"

namespace agentr {
namespace {

constexpr int64_t kMostSteps = 1'000'000'000;

// Both values where a person can read them, which hashes and long lists are not.
std::string Difference(const std::string& there, const std::string& now) {
  constexpr size_t kReadable = 40;
  if (there.empty()) return " (it is not recorded there)";
  if (there.size() > kReadable || now.size() > kReadable) return "";
  return fmt::format(" ({} there, {} now)", there, now);
}

}  // namespace

nlohmann::ordered_json RunState::ToJson(const Fingerprint& fingerprint) const {
  nlohmann::ordered_json json = {
      {"step", step},           {"optimizer_steps", optimizer_steps},
      {"held_out", held_out},   {"best_held_out", best_held_out},
      {"best_step", best_step}, {"fingerprint", nlohmann::ordered_json::object()}};
  for (const auto& [name, value] : fingerprint) json["fingerprint"][name] = value;
  return json;
}

RunState RunState::From(const nlohmann::json& json, const Fingerprint& fingerprint,
                        const std::string& place) {
  return ReadingRecord(place + "/state.json", kCheckpointCure, [&] {
    for (const auto& [name, value] : fingerprint) {
      const auto there = JsonFieldOr<std::string>(json.at("fingerprint"), name.c_str(), "");
      if (there == value) continue;
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("{} was made with other options: {} differs{}. Cure: use its options (from "
                      "resolved.toml in the run's folder), or another --name for a new run",
                      place, name, Difference(there, value)));
    }
    RunState state;
    state.step = JsonField<int64_t>(json, "step");
    state.optimizer_steps = JsonField<int64_t>(json, "optimizer_steps");
    state.held_out = JsonField<double>(json, "held_out");
    state.best_held_out = JsonField<double>(json, "best_held_out");
    state.best_step = JsonField<int64_t>(json, "best_step");
    for (const int64_t steps : {state.step, state.optimizer_steps, state.best_step + 1}) {
      if (steps >= 0 && steps <= kMostSteps) continue;
      throw std::invalid_argument(fmt::format("no run has {} steps", steps));
    }
    return state;
  });
}

}  // namespace agentr
