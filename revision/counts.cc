#include "revision/counts.h"

#include <nlohmann/json.hpp>

#include "revision/verifier.h"

namespace agentr {
namespace {

// The members that are simple sums, by name.
constexpr std::array<std::pair<const char*, int64_t RevisionCounts::*>, 24> kSums = {
    {{"trees", &RevisionCounts::trees},
     {"without_good", &RevisionCounts::without_good},
     {"without_pairs", &RevisionCounts::without_pairs},
     {"other_start", &RevisionCounts::other_start},
     {"cache_hits", &RevisionCounts::cache_hits},
     {"paths", &RevisionCounts::paths},
     {"good_paths", &RevisionCounts::good_paths},
     {"bad_paths", &RevisionCounts::bad_paths},
     {"pairs_found", &RevisionCounts::pairs_found},
     {"mistakes_found", &RevisionCounts::mistakes_found},
     {"duplicate_drafts", &RevisionCounts::duplicate_drafts},
     {"contradictions", &RevisionCounts::contradictions},
     {"pairs", &RevisionCounts::pairs},
     {"pruned_turns", &RevisionCounts::pruned_turns},
     {"cut_turns", &RevisionCounts::cut_turns},
     {"rewritten_turns", &RevisionCounts::rewritten_turns},
     {"disagreeing_rows", &RevisionCounts::disagreeing_rows},
     {"unclean_rows", &RevisionCounts::unclean_rows},
     {"unparsed", &RevisionCounts::unparsed},
     {"ended_bad", &RevisionCounts::ended_bad},
     {"too_long", &RevisionCounts::too_long},
     {"rows_before_dedup", &RevisionCounts::rows},
     {"episodes", &RevisionCounts::episodes},
     {"episode_turns", &RevisionCounts::episode_turns}}};

}  // namespace

RevisionCounts& RevisionCounts::operator+=(const RevisionCounts& other) {
  for (const auto& [name, member] : kSums) this->*member += other.*member;
  for (const auto& [position, count] : other.first_errors) first_errors[position] += count;
  for (const auto& [name, count] : other.mistakes) mistakes[name] += count;
  for (const auto& [actions, count] : other.recoveries) recoveries[actions] += count;
  for (size_t i = 0; i < judgements.size(); ++i) judgements[i] += other.judgements[i];
  for (size_t i = 0; i < replays.size(); ++i) replays[i] += other.replays[i];
  calls += other.calls;
  return *this;
}

void Count(const Decision& decision, RevisionCounts& counts) {
  ++counts.pairs;
  if (decision.pair.bad.leaf >= 0) {
    ++counts.first_errors[decision.error.found ? decision.error.bad_steps : 0];
    ++counts.mistakes[decision.mistake.empty() ? "none_found" : decision.mistake];
    ++counts.recoveries[decision.recovery];
  }
  for (const JudgedStep& step : decision.error.steps) {
    ++counts.judgements[static_cast<size_t>(step.judged.judgement)];
    if (!step.judged.parsed) ++counts.unparsed;
  }
  counts.pruned_turns += decision.pruned;
  ++counts.replays[static_cast<size_t>(decision.replay.outcome)];
  if (decision.replay.ended_bad) ++counts.ended_bad;
}

nlohmann::ordered_json ToJson(const RevisionCounts& counts) {
  nlohmann::ordered_json json;
  for (const auto& [name, member] : kSums) json[name] = counts.*member;
  for (const auto& [position, count] : counts.first_errors) {
    json["first_error_at"][position == 0 ? "none" : std::to_string(position)] = count;
  }
  for (const auto& [name, count] : counts.mistakes) json["mistakes"][name] = count;
  for (const auto& [actions, count] : counts.recoveries) {
    json["recovery_actions"][std::to_string(actions)] = count;
  }
  for (const Judgement judgement : {Judgement::kGood, Judgement::kBad, Judgement::kUncertain}) {
    json["judgements"][std::string(Name(judgement))] =
        counts.judgements[static_cast<size_t>(judgement)];
  }
  for (size_t i = 0; i < counts.replays.size(); ++i) {
    json["replay"][std::string(Name(static_cast<ReplayOutcome>(i)))] = counts.replays[i];
  }
  json["environment"] = FieldsToJson(kExecutionFields, counts.calls);
  return json;
}

}  // namespace agentr
