#include "revision/row_draft.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/random.h"
#include "revision/make/correction.h"
#include "rows/provenance.h"
#include "rows/token_row.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

Json NodeId(int node) { return node < 0 ? Json(nullptr) : Json(node); }

// The paper's revision length, the number of steps up to the first error: counted from the start of
// the path, as in the paper, and from the point where it leaves the good path.
Json LengthJson(const RowDraft& row) {
  const Decision& decision = row.decision;
  if (decision.pair.bad.leaf < 0) return nullptr;
  const auto steps = [&](Part part) {
    return std::ranges::count(decision.turns, part, &SplicedTurn::part);
  };
  std::ptrdiff_t bad = steps(Part::kBad);
  if (decision.error.found) {
    const Tree& tree = row.source.tree;
    const int error = tree.node(decision.error.steps.back().node).depth;
    bad = std::min<std::ptrdiff_t>(bad, error - tree.node(decision.pair.ancestor).depth);
  }
  return {{"from_start", steps(Part::kPrefix) + bad}, {"from_ancestor", bad}};
}

Json ToJson(const ShareEstimate& estimate) {
  return {{"successes", estimate.successes},
          {"continuations", estimate.trials},
          {"low", estimate.low()},
          {"high", estimate.high()}};
}

// Of the first error, where continuations were played from before and behind it.
Json ValuesJson(const FirstError& error) {
  if (error.steps.empty() || !error.steps.back().judged.values) return nullptr;
  const ValueChange& values = *error.steps.back().judged.values;
  return {{"before", ToJson(values.before)}, {"behind", ToJson(values.behind)}};
}

Json Provenance(const RowDraft& row) {
  const RowSource& source = row.source;
  const Decision& decision = row.decision;
  const bool alone = decision.pair.bad.leaf < 0;
  const bool replayed = decision.replay.outcome != ReplayOutcome::kUnchecked;
  const int first_error = decision.error.found ? decision.error.steps.back().node : -1;
  return {
      {"version", kRowVersion},
      {"tree", source.file},
      {"task", source.task_id},
      {"model", source.model},
      {"data_hash", source.tree.origin().data_hash},
      {"nodes",
       {{"good", decision.pair.good.leaf},
        {"bad", NodeId(decision.pair.bad.leaf)},
        {"ancestor", alone ? Json(nullptr) : Json(decision.pair.ancestor)},
        {"first_error", NodeId(first_error)}}},
      {"rewards",
       {{"good", decision.pair.good.value},
        {"bad", alone ? Json(nullptr) : Json(decision.pair.bad.value)},
        {"replay", replayed ? Json(decision.replay.reward) : Json(nullptr)}}},
      {"mistake", decision.mistake.empty() ? Json(nullptr) : Json(decision.mistake)},
      {"evidence", decision.evidence},
      {"reason", decision.error.steps.empty() ? Json(nullptr)
                                              : Json(decision.error.steps.back().judged.reasons)},
      {"values", ValuesJson(decision.error)},
      {"revision_length", LengthJson(row)},
      {"bad_steps", std::ranges::count(decision.turns, Part::kBad, &SplicedTurn::part)},
      {"recovery", decision.recovery},
      {"pruned_turns", decision.pruned},
      {"seed", source.seed},
      {"alpha", source.choice.alpha},
      {"beta", source.choice.beta},
      {"good_margin", source.choice.margin},
      {"pairing", source.pairing},
      {"verifier", source.verifier},
      {"prune", source.prune},
      {"train_prefix", row.trajectory.train_prefix},
      {"replay", Name(decision.replay.outcome)},
      {"dropped_turns", row.trajectory.dropped_turns},
      {"last_observation",
       row.trajectory.turns.empty() ? "" : row.trajectory.turns.back().observation},
      {"hash", row.hash}};
}

int RepeatsOf(const RowDraft& row) {
  const PathPair& pair = row.decision.pair;
  return static_cast<int>(RandomStream(row.source.seed)
                              .Split("repeats")
                              .Split(static_cast<uint64_t>(row.source.task_id))
                              .Split(static_cast<uint64_t>(pair.good.leaf))
                              .Split(static_cast<uint64_t>(pair.bad.leaf))
                              .Below(static_cast<uint64_t>(row.source.repeats) + 1));
}

}  // namespace

std::vector<RowMessage> MessagesOf(const RowDraft& row) {
  std::vector<RowMessage> messages = RowMessages(row.trajectory);
  for (RowMessage& message : messages) {
    if (message.turn < 0 || message.role != "assistant") continue;
    const int index = row.trajectory.turns[static_cast<size_t>(message.turn)].node;
    if (index < 0) continue;
    const Node& node = row.source.tree.node(index);
    if (node.token_ids.empty()) continue;
    message.response = &node.response;
    message.ids = node.token_ids;
    message.logprobs = node.logprobs;
  }
  return messages;
}

NewRow RowOf(const RowDraft& row) {
  const RowSource& source = row.source;
  const PathPair& pair = row.decision.pair;
  NewRow made{.family = source.family,
              .task_id = source.task_id,
              .messages = MessagesOf(row),
              .provenance = std::make_shared<const Json>(Provenance(row)),
              .high_log = source.tree.SeenConversation(pair.good.leaf),
              .task_description = source.tree.root().observation,
              .found = row.decision.error.found,
              .correction = CorrectionOf(row.trajectory, RepeatsOf(row))};
  if (pair.bad.leaf >= 0) made.low_log = source.tree.SeenConversation(pair.bad.leaf);
  for (const JudgedStep& step : row.decision.error.steps) {
    const Node& node = source.tree.node(step.node);
    made.feedback.push_back({step.judged.reasons, node.action, node.observation,
                             std::string(Name(step.judged.judgement))});
  }
  return made;
}

bool FitRow(RowDraft& row, int dropped_turns, int64_t max_tokens, const ChatEncoder* encoder) {
  Trajectory& trajectory = row.trajectory;
  const bool encodes = encoder != nullptr && EncodeRow(MessagesOf(row), *encoder).has_value();
  if (!encodes || max_tokens == 0) return FitContext(trajectory, dropped_turns, max_tokens);
  const auto fits = [&](size_t dropped) {
    FitContext(trajectory, static_cast<int>(dropped), /*max_tokens=*/0);
    const Result<TokenRow> tokens = EncodeRow(MessagesOf(row), *encoder);
    return tokens && std::ssize(tokens->ids) <= max_tokens;
  };
  FitContext(trajectory, std::numeric_limits<int>::max(), /*max_tokens=*/0);
  size_t enough = trajectory.dropped_turns;  // the largest number of turns that may be left out
  size_t too_few = std::min(static_cast<size_t>(dropped_turns), enough);
  if (fits(too_few)) return true;
  if (!fits(enough)) return false;
  // Leaving out more turns makes a row shorter, so the number is found by binary search.
  while (too_few + 1 < enough) {
    const size_t middle = (too_few + enough) / 2;
    (fits(middle) ? enough : too_few) = middle;
  }
  return fits(enough);
}

}  // namespace agentr
