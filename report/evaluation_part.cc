#include <algorithm>
#include <numeric>

#include "common/error.h"
#include "eval/episode_file.h"
#include "eval/episode_store.h"
#include "eval/metrics.h"
#include "eval/summary.h"
#include "report/report_parts.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

Json EpisodeItem(const Episode& episode) {
  Json turns = Json::array();
  for (const EpisodeTurn& turn : episode.turns) {
    turns.push_back({WithThought({"assistant", turn.response, turn.reasoning}), turn.action,
                     turn.observation, turn.refused ? 1 : 0});
    if (turn.slip) turns.back().push_back(turn.slip->lost ? "" : turn.slip->said);
    if (turn.token_ids.empty()) continue;
    if (!turn.slip) turns.back().push_back(nullptr);
    turns.back().push_back(turn.token_ids.size());
    if (turn.logprobs.empty()) continue;
    turns.back().push_back(std::accumulate(turn.logprobs.begin(), turn.logprobs.end(), 0.0) /
                           static_cast<double>(turn.logprobs.size()));
  }
  return {{"first", episode.first_observation},
          {"turns", std::move(turns)},
          {"replayed", episode.replayed_turns},
          {"error", episode.error}};
}

Json EpisodeLine(const Episode& episode, const RevisionSigns& signs, PackedItems::Place place) {
  const auto refused = std::ranges::count(episode.turns, true, &EpisodeTurn::refused);
  const auto replayed = std::min(episode.replayed_turns, episode.turns.size());
  const auto revisions = std::count_if(
      episode.turns.begin() + static_cast<std::ptrdiff_t>(replayed), episode.turns.end(),
      [&](const EpisodeTurn& turn) { return signs.Revises(turn); });
  const bool ends_refused = !episode.turns.empty() && episode.turns.back().refused;
  return {
      episode.task_id, episode.attempt, episode.reward, Name(episode.end), episode.turns.size(),
      refused,         place.block,     place.at,       revisions,         ends_refused ? 1 : 0};
}

// The program's own summary or, if the run has not reached it, the same from the episodes.
Json Summary(const RunResult& result, const Json& options, const std::vector<Episode>& episodes) {
  Json summary = JsonOrNull(result.path / "summary.json");
  if (summary.is_object()) return summary;
  MetricOptions metric_options;
  metric_options.slips = options.is_object() && options.contains("slip");
  const EvalMetrics metrics = Measure(episodes, metric_options);
  return SummaryJson(metrics, metrics.episodes);
}

}  // namespace

EvaluationPart ReadEvaluationPart(const RunResult& result, const ReportLimits& limits,
                                  PackedItems& items) {
  EvaluationPart read;
  Json& part = read.part;
  part = CommonPart(result, (result.path / "run.json").string(),
                    (result.path / "resolved.toml").string(), items);
  part["summary"] = nullptr;
  part["episodes"] = part["instruction"] = Json::array();
  try {
    Json options;
    for (StoredEpisode& stored : ReadEpisodes(result.path)) {
      if (options.is_null()) options = Json::parse(stored.options, nullptr, false);
      read.episodes.push_back(std::move(stored.episode));
    }
    part["family"] = FieldOr<std::string>(options, "task", "");
    part["options"] = options;
    part["summary"] = Summary(result, options, read.episodes);
    read.success_threshold = FieldOr(part["summary"], "success_threshold", 1.0);
    for (const Message& message :
         read.episodes.empty() ? std::vector<Message>{} : read.episodes.front().instruction) {
      part["instruction"].push_back({message.role, message.content});
    }
  } catch (const FatalError& error) {
    part["problems"].push_back(error.what());
  }
  part["data"] = FieldOr<std::string>(part["options"], "data_hash", "");
  const RevisionSigns signs = {
      FieldOr<std::string>(part["options"], "revision_action", RevisionSigns().action),
      FieldOr<std::vector<std::string>>(part["summary"], "revision_thoughts", {})};
  part["total"] = read.episodes.size();
  for (const size_t i : Spread(read.episodes.size(), limits.episodes)) {
    const Episode& episode = read.episodes[i];
    part["episodes"].push_back(EpisodeLine(episode, signs, items.Add(EpisodeItem(episode))));
  }
  items.EndBlock();
  return read;
}

}  // namespace agentr
