#include "rows/row_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "clients/message_json.h"
#include "common/error.h"
#include "common/json_depth.h"
#include "rows/token_row.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

std::string LineOf(const Json& json) { return DumpJson(json) + "\n"; }

Json NodeId(int node) { return node < 0 ? Json(nullptr) : Json(node); }

Json LengthJson(const Row& row) {
  const RevisionLength length = RevisionLengthOf(row);
  if (length.from_start < 0) return nullptr;
  return {{"from_start", length.from_start}, {"from_ancestor", length.from_ancestor}};
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

Json Provenance(const Row& row) {
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

class AgentRFormat : public RowFormat {
 public:
  std::string_view suffix() const override { return ".jsonl"; }

  std::string Line(const Row& row) const override {
    const Tree& tree = row.source.tree;
    Json log = Json::array();
    for (const RowMessage& message : RowMessages(row.trajectory)) {
      log.push_back({{"role", message.role}, {"content", *message.content}});
      if (message.role == "assistant") log.back()["loss"] = message.trained;
    }
    Json feedback = Json::array();
    for (const JudgedStep& step : row.decision.error.steps) {
      const Node& node = tree.node(step.node);
      feedback.push_back({{"revision_feedback", step.judged.reasons},
                          {"action", node.action},
                          {"obs", node.observation},
                          {"judgement", Name(step.judged.judgement)}});
    }
    const int bad = row.decision.pair.bad.leaf;
    return LineOf(
        {{"task_num", row.source.task_id},
         {"revise_log", std::move(log)},
         {"high_log", MessagesToJson(tree.SeenConversation(row.decision.pair.good.leaf))},
         {"low_log", bad < 0 ? Json::array() : MessagesToJson(tree.SeenConversation(bad))},
         {"task_description", tree.root().observation},
         {"revise", row.decision.error.found},
         {"revise_feedback", std::move(feedback)}});
  }
};

class MessagesFormat : public RowFormat {
 public:
  std::string_view suffix() const override { return ".messages.jsonl"; }

  std::string Line(const Row& row) const override {
    Json messages = Json::array();
    for (const RowMessage& message : RowMessages(row.trajectory)) {
      messages.push_back({{"role", message.role}, {"content", *message.content}});
      if (message.role == "assistant") {
        messages.back()["weight"] = message.trained ? 1 : 0;
        messages.back()["loss"] = message.trained;
      }
    }
    return LineOf({{"messages", std::move(messages)}, {"provenance", Provenance(row)}});
  }
};

class ShareGptFormat : public RowFormat {
 public:
  std::string_view suffix() const override { return ".sharegpt.jsonl"; }

  std::string Line(const Row& row) const override {
    Json conversations = Json::array();
    for (const RowMessage& message : RowMessages(row.trajectory)) {
      const bool model = message.role == "assistant";
      const std::string from = model ? "gpt" : message.role == "user" ? "human" : message.role;
      conversations.push_back({{"from", from},
                               {"loss", model ? Json(message.trained) : Json(nullptr)},
                               {"value", *message.content}});
    }
    return LineOf({{"conversations", std::move(conversations)},
                   {"item_id", fmt::format("{}_{}", row.source.family, row.source.task_id)},
                   {"provenance", Provenance(row)}});
  }
};

class SegmentsFormat : public RowFormat {
 public:
  std::string_view suffix() const override { return ".tokens.jsonl"; }

  std::string Line(const Row& row) const override {
    Json segments = Json::array();
    for (const RowMessage& message : RowMessages(row.trajectory)) {
      Json segment = {{"role", message.role}, {"loss", message.trained}};
      const Node* node = NodeOf(row, message);
      if (node != nullptr && !node->token_ids.empty()) {
        segment["ids"] = node->token_ids;
        if (!node->logprobs.empty()) segment["logprobs"] = node->logprobs;
      } else {
        segment["text"] = *message.content;
      }
      segments.push_back(std::move(segment));
    }
    return LineOf({{"segments", std::move(segments)}, {"provenance", Provenance(row)}});
  }

 private:
  // The node whose response the message is; nullptr if the model did not sample it.
  static const Node* NodeOf(const Row& row, const RowMessage& message) {
    if (message.turn < 0 || message.role != "assistant") return nullptr;
    const int node = row.trajectory.turns[static_cast<size_t>(message.turn)].node;
    if (node < 0) return nullptr;
    const Node& said = row.source.tree.node(node);
    return said.response == *message.content ? &said : nullptr;  // otherwise the turn was cut
  }
};

class TokensFormat : public RowFormat {
 public:
  explicit TokensFormat(const ChatEncoder& encoder) : encoder_(encoder) {}
  std::string_view suffix() const override { return ".tokens.jsonl"; }

  std::string Line(const Row& row) const override {
    const Result<TokenRow> tokens = EncodeRow(row, encoder_);
    if (!tokens) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("the model's chat template cannot express the conversations of "
                                   "{}: {}; choose another one with --chat_template",
                                   row.source.family, tokens.error().message));
    }
    Json loss = Json::array();
    for (const bool trained : tokens->trained) loss.push_back(trained ? 1 : 0);
    Json logprobs = Json::array();
    for (const std::optional<float>& logprob : tokens->logprobs) {
      logprobs.push_back(logprob ? Json(*logprob) : Json(nullptr));
    }
    return LineOf({{"ids", tokens->ids},
                   {"loss", std::move(loss)},
                   {"logprobs", std::move(logprobs)},
                   {"revision", RevisionJson(*tokens)},
                   {"tokenizer", encoder_.tokenizer_hash()},
                   {"provenance", Provenance(row)}});
  }

 private:
  static Json RevisionJson(const TokenRow& tokens) {
    if (tokens.revision.begin == tokens.revision.end) return nullptr;
    return {tokens.revision.begin, tokens.revision.end};
  }

  const ChatEncoder& encoder_;
};

class ProvenanceFormat : public RowFormat {
 public:
  std::string_view suffix() const override { return ".provenance.jsonl"; }
  std::string Line(const Row& row) const override { return LineOf(Provenance(row)); }
};

}  // namespace

RevisionLength RevisionLengthOf(const Row& row) {
  const Decision& decision = row.decision;
  if (decision.pair.bad.leaf < 0) return {};
  const auto steps = [&](Part part) {
    return static_cast<int>(std::ranges::count(decision.turns, part, &SplicedTurn::part));
  };
  int bad = steps(Part::kBad);
  if (decision.error.found) {
    const Tree& tree = row.source.tree;
    const int error = tree.node(decision.error.steps.back().node).depth;
    bad = std::min(bad, error - tree.node(decision.pair.ancestor).depth);
  }
  return {steps(Part::kPrefix) + bad, bad};
}

std::unique_ptr<RowFormat> MakeRowFormat(std::string_view name, const ChatEncoder* encoder) {
  if (name == "agent-r") return std::make_unique<AgentRFormat>();
  if (name == "messages") return std::make_unique<MessagesFormat>();
  if (name == "sharegpt") return std::make_unique<ShareGptFormat>();
  if (name == "tokens" && encoder != nullptr) return std::make_unique<TokensFormat>(*encoder);
  if (name == "tokens") return std::make_unique<SegmentsFormat>();
  if (name == "provenance") return std::make_unique<ProvenanceFormat>();
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("--format: \"{}\" is not agent-r, messages, sharegpt or tokens", name));
}

std::vector<std::unique_ptr<RowFormat>> MakeRowFormats(const std::vector<std::string>& names,
                                                       const ChatEncoder* encoder) {
  std::vector<std::string> wanted;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(wanted, name) == wanted.end()) wanted.push_back(name);
  };
  for (const std::string& name : names) add(name);
  if (std::ranges::find(wanted, "agent-r") != wanted.end()) add("provenance");
  std::vector<std::unique_ptr<RowFormat>> formats;
  for (const std::string& name : wanted) formats.push_back(MakeRowFormat(name, encoder));
  return formats;
}

}  // namespace agentr
