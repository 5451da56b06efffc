#include "training/run_state.h"

#include <fmt/core.h>

#include "common/error.h"

namespace agentr {
namespace {

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
                        const std::string& place) try {
  for (const auto& [name, value] : fingerprint) {
    const std::string there = json.at("fingerprint").value(name, "");
    if (there == value) continue;
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("{} was made with other options: {} differs{}. Cure: use its options (from "
                    "resolved.toml in the run's folder), or another --name for a new run",
                    place, name, Difference(there, value)));
  }
  RunState state;
  json.at("step").get_to(state.step);
  json.at("optimizer_steps").get_to(state.optimizer_steps);
  json.at("held_out").get_to(state.held_out);
  json.at("best_held_out").get_to(state.best_held_out);
  json.at("best_step").get_to(state.best_step);
  return state;
} catch (const nlohmann::json::exception& error) {
  throw FatalError(ExitCode::kFile,
                   fmt::format("{}/state.json: {}. Cure: remove the checkpoint's folder; the same "
                               "command then continues from the one before it",
                               place, error.what()));
}

}  // namespace agentr
