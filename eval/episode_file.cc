#include "eval/episode_file.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "clients/message_json.h"
#include "common/error.h"
#include "common/json_depth.h"
#include "common/options.h"
#include "rollout/slip_json.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "agentr-episode";
constexpr int kEpisodeVersion = 1;

Json StateOf(const Episode& episode) {
  std::vector<Message> messages = episode.instruction;
  messages.push_back({"user", episode.first_observation});
  for (const EpisodeTurn& turn : episode.turns) {
    messages.push_back({"assistant", turn.response, turn.reasoning});
    messages.push_back({"user", turn.observation});
  }
  return MessagesToJson(messages);
}

Json TurnsOf(const Episode& episode) {
  Json turns = Json::array();
  for (const EpisodeTurn& turn : episode.turns) {
    Json& json = turns.emplace_back(Json{
        {"action", turn.action}, {"refused", turn.refused}, {"dropped_turns", turn.dropped_turns}});
    if (!turn.token_ids.empty()) json["token_ids"] = turn.token_ids;
    if (!turn.logprobs.empty()) json["logprobs"] = turn.logprobs;
    if (turn.weights_version != 0) json["weights_version"] = turn.weights_version;
    if (turn.slip) json["slip"] = SlipToJson(*turn.slip);
    if (turn.missed_slip) json["missed_slip"] = true;
  }
  return turns;
}

// Reads instruction, first observation and turns.
void ReadConversation(const Json& json, Episode& episode) {
  std::vector<Message> messages = MessagesFromJson(json.at("state"));
  const Json& turns = json.at("turns");
  if (JsonField<size_t>(json, "step_num") != turns.size() ||
      messages.size() < 1 + 2 * turns.size()) {
    throw std::invalid_argument("\"state\", \"turns\" and \"step_num\" are inconsistent");
  }
  size_t next = messages.size() - 2 * turns.size();
  episode.first_observation = std::move(messages[next - 1].content);
  episode.instruction.assign(messages.begin(), messages.begin() + static_cast<long>(next - 1));
  for (const Json& json_turn : turns) {
    EpisodeTurn& turn = episode.turns.emplace_back();
    turn.reasoning = std::move(messages[next].reasoning);
    turn.response = std::move(messages[next++].content);
    turn.observation = std::move(messages[next++].content);
    turn.action = JsonField<std::string>(json_turn, "action");
    turn.refused = JsonField<bool>(json_turn, "refused");
    turn.dropped_turns = JsonField<int>(json_turn, "dropped_turns");
    turn.token_ids = JsonFieldOr<std::vector<int32_t>>(json_turn, "token_ids", {});
    turn.logprobs = JsonFieldOr<std::vector<float>>(json_turn, "logprobs", {});
    turn.weights_version = JsonFieldOr<int64_t>(json_turn, "weights_version", 0);
    turn.slip = ReadSlip(json_turn);
    turn.missed_slip = JsonFieldOr<bool>(json_turn, "missed_slip", false);
    if (!turn.logprobs.empty() && turn.logprobs.size() != turn.token_ids.size()) {
      throw std::invalid_argument("\"logprobs\" and \"token_ids\" of a turn differ in length");
    }
  }
}

Usage ReadUsage(const Json& json) {
  Usage usage;
  for (const auto& field : kUsageFields) {
    usage.*field.member =
        JsonFieldOr<int64_t>(json, field.name, 0);  // later fields: 0 in old files
  }
  return usage;
}

StoredEpisode FromJson(const Json& json) {
  if (json.value("format", "") != kFormat) {
    throw std::invalid_argument("it has no \"format\": \"agentr-episode\"");
  }
  if (JsonField<int>(json, "version") != kEpisodeVersion) {
    throw std::invalid_argument("another version of agentr wrote it");
  }
  StoredEpisode stored;
  stored.options = json.at("options").dump();
  Episode& episode = stored.episode;
  episode.task_id = JsonField<int>(json, "task_id");
  episode.reward = JsonField<double>(json, "env_score");
  episode.model = JsonField<std::string>(json, "model_name");
  ReadConversation(json, episode);
  episode.attempt = JsonField<int>(json, "attempt");
  episode.end = JsonField(json, "end", kEpisodeEnds);
  episode.error = JsonFieldOr<std::string>(json, "error", "");
  episode.cut_response = JsonFieldOr<std::string>(json, "cut_response", "");
  episode.seed = JsonField<uint64_t>(json, "seed");
  episode.replayed_turns = JsonField<size_t>(json, "replayed_turns");
  if (episode.replayed_turns > episode.turns.size()) {
    throw std::invalid_argument("\"replayed_turns\" exceeds the number of turns");
  }
  episode.replay_differences = JsonField<size_t>(json, "replay_differences");
  episode.usage = ReadUsage(json.at("usage"));
  const Json& timings = json.at("timings");
  episode.model_s = JsonField<double>(timings, "model_s");
  episode.environment_s = JsonField<double>(timings, "environment_s");
  episode.wall_s = JsonField<double>(timings, "wall_s");
  return stored;
}

}  // namespace

std::string WriteEpisode(const StoredEpisode& stored) {
  const Episode& e = stored.episode;
  Json json = {
      {"task_id", e.task_id},
      {"env_score", e.reward},
      {"model_name", e.model},
      {"step_num", e.turns.size()},
      {"state", StateOf(e)},
      {"format", kFormat},
      {"version", kEpisodeVersion},
      {"attempt", e.attempt},
      {"end", Name(e.end)},
      {"seed", e.seed},
      {"options", Json::parse(stored.options)},
      {"turns", TurnsOf(e)},
      {"replayed_turns", e.replayed_turns},
      {"replay_differences", e.replay_differences},
      {"usage", FieldsToJson(kUsageFields, e.usage)},
      {"timings",
       {{"model_s", e.model_s}, {"environment_s", e.environment_s}, {"wall_s", e.wall_s}}}};
  if (!e.error.empty()) json["error"] = e.error;
  if (!e.cut_response.empty()) json["cut_response"] = e.cut_response;
  return DumpJson(json, 1) + "\n";
}

StoredEpisode ReadEpisode(std::string_view text, const std::string& name) {
  const auto refuse = [&](const std::string& reason) {
    return FatalError(ExitCode::kFile,
                      fmt::format("{} is not an episode of agent_eval, or is truncated: {}; move "
                                  "it away, and its task will be played again",
                                  name, reason));
  };
  try {
    return FromJson(ParseJsonOrThrow<Json>(text));
  } catch (const Json::parse_error&) {
    throw refuse("it is not JSON: " + JsonFault(text));
  } catch (const Json::exception& error) {
    throw refuse(std::string(PlainFault(error)));
  } catch (const std::invalid_argument& error) {
    throw refuse(error.what());
  }
}

std::string PlayedDifferences(const std::string& a, const std::string& b, const std::string& name_a,
                              const std::string& name_b) {
  return OptionDifferences(Json::parse(a), Json::parse(b), {name_a, name_b, "", ":"});
}

}  // namespace agentr
