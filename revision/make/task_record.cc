#include "revision/make/task_record.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "clients/message_json.h"
#include "common/file.h"
#include "common/json_depth.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const LeafPath& path) { return {path.leaf, path.value}; }

LeafPath PathFromJson(const Json& json) {
  return {json.at(0).get<int>(), json.at(1).get<double>()};
}

Json ToJson(const std::optional<ValueChange>& values) {
  if (!values) return nullptr;
  const auto& [before, behind] = *values;
  return {before.successes, before.trials, behind.successes, behind.trials};
}

std::optional<ValueChange> ValuesFromJson(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return ValueChange{{json.at(0).get<int>(), json.at(1).get<int>()},
                     {json.at(2).get<int>(), json.at(3).get<int>()}};
}

Json ToJson(const FirstError& error) {
  Json steps = Json::array();
  for (const JudgedStep& step : error.steps) {
    steps.push_back({step.node, static_cast<int>(step.judged.judgement), step.judged.reasons,
                     step.judged.parsed, ToJson(step.judged.values)});
  }
  return {{"bad_steps", error.bad_steps}, {"found", error.found}, {"steps", std::move(steps)}};
}

FirstError ErrorFromJson(const Json& json) {
  FirstError error{JsonField<int>(json, "bad_steps"), JsonField<bool>(json, "found"), {}};
  for (const Json& step : json.at("steps")) {
    error.steps.push_back(
        {step.at(0).get<int>(),
         {static_cast<Judgement>(step.at(1).get<int>()), step.at(2).get<std::string>(),
          step.at(3).get<bool>(), ValuesFromJson(step.at(4))}});
  }
  return error;
}

Json ToJson(const Replay& replay) {
  Json observations = Json::array();
  for (const auto& [turn, text] : replay.observations) observations.push_back({turn, text});
  return {{"outcome", Name(replay.outcome)},
          {"reward", replay.reward},
          {"turns", replay.turns},
          {"ended_bad", replay.ended_bad},
          {"observations", std::move(observations)}};
}

Replay ReplayFromJson(const Json& json) {
  Replay replay{JsonField(json, "outcome", kReplayOutcomes),
                JsonField<double>(json, "reward"),
                JsonField<size_t>(json, "turns"),
                JsonField<bool>(json, "ended_bad"),
                {}};
  for (const Json& changed : json.at("observations")) {
    replay.observations[changed.at(0).get<size_t>()] = changed.at(1).get<std::string>();
  }
  return replay;
}

// A turn of the tree is stored as its node, any other turn with its contents.
Json TurnsToJson(const std::vector<SplicedTurn>& turns) {
  Json list = Json::array();
  for (const SplicedTurn& turn : turns) {
    Json json = {static_cast<int>(turn.part), turn.node, turn.refused};
    const bool of_tree = turn.node >= 0;
    if (!of_tree) json.insert(json.end(), {turn.response, turn.action, turn.observation});
    list.push_back(std::move(json));
  }
  return list;
}

std::vector<SplicedTurn> TurnsFromJson(const Json& list, const Tree& tree) {
  std::vector<SplicedTurn> turns;
  for (const Json& json : list) {
    SplicedTurn turn{static_cast<Part>(json.at(0).get<int>()),
                     json.at(1).get<int>(),
                     "",
                     "",
                     "",
                     json.at(2).get<bool>()};
    if (turn.node >= tree.size()) throw std::invalid_argument("no such node");
    if (turn.node >= 0) {
      const Node& node = tree.node(turn.node);
      turn.response = node.response;
      turn.action = node.action;
      turn.observation = node.observation;
      turn.reasoning = node.reasoning;
      turn.slipped = node.slip.has_value();
    } else {
      turn.response = json.at(3).get<std::string>();
      turn.action = json.at(4).get<std::string>();
      turn.observation = json.at(5).get<std::string>();
    }
    turns.push_back(std::move(turn));
  }
  return turns;
}

}  // namespace

void WriteRecord(const std::filesystem::path& path, const std::string& key,
                 const std::vector<Decision>& decisions, const RevisionCounts& counts) {
  Json list = Json::array();
  for (const Decision& decision : decisions) {
    list.push_back({{"good", ToJson(decision.pair.good)},
                    {"bad", ToJson(decision.pair.bad)},
                    {"ancestor", decision.pair.ancestor},
                    {"error", ToJson(decision.error)},
                    {"mistake", decision.mistake},
                    {"refused", decision.refused},
                    {"evidence", decision.evidence},
                    {"turns", TurnsToJson(decision.turns)},
                    {"pruned", decision.pruned},
                    {"recovery", decision.recovery},
                    {"replay", ToJson(decision.replay)}});
  }
  const Json record = {{"key", key},
                       {"decisions", std::move(list)},
                       {"counts", FieldsToJson(kDecidingSums, counts)}};
  WriteFileAtomically(path, DumpJson(record) + "\n");
}

std::optional<std::vector<Decision>> ReadRecord(const std::filesystem::path& path,
                                                const std::string& key, const Tree& tree,
                                                RevisionCounts& counts) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    const Json record = ParseJsonOrThrow<Json>(ReadFile(path));
    if (JsonField<std::string>(record, "key") != key) return std::nullopt;
    std::vector<Decision> decisions;
    for (const Json& json : record.at("decisions")) {
      decisions.push_back({{PathFromJson(json.at("good")), PathFromJson(json.at("bad")),
                            JsonField<int>(json, "ancestor")},
                           ErrorFromJson(json.at("error")),
                           JsonField<std::string>(json, "mistake"),
                           JsonField<bool>(json, "refused"),
                           JsonField<int>(json, "evidence"),
                           TurnsFromJson(json.at("turns"), tree),
                           ReplayFromJson(json.at("replay")),
                           JsonField<int>(json, "pruned"),
                           JsonField<int>(json, "recovery")});
    }
    // Records of earlier versions have no counts.
    const Json kept = record.value("counts", Json::object());
    RevisionCounts all = counts;
    for (const auto& field : kDecidingSums) {
      if (kept.contains(field.name)) all.*field.member = JsonField<int64_t>(kept, field.name);
    }
    counts = std::move(all);
    return decisions;
  } catch (const Json::exception&) {
    return std::nullopt;  // not a record: it will be replaced
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace agentr
