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

std::string AgentRLine(const NewRow& row) {
  Json log = Json::array();
  for (const RowMessage& message : row.messages) {
    log.push_back(MessageToJson(message.AsMessage()));
    if (message.role == "assistant") log.back()["loss"] = message.trained;
  }
  Json feedback = Json::array();
  for (const NewRow::JudgedAction& step : row.feedback) {
    feedback.push_back({{"revision_feedback", step.reasons},
                        {"action", step.action},
                        {"obs", step.observation},
                        {"judgement", step.judgement}});
  }
  return LineOf({{"task_num", row.task_id},
                 {"revise_log", std::move(log)},
                 {"high_log", MessagesToJson(row.high_log)},
                 {"low_log", MessagesToJson(row.low_log)},
                 {"task_description", row.task_description},
                 {"revise", row.found},
                 {"revise_feedback", std::move(feedback)}});
}

Json MarkedMessage(const RowMessage& message, bool trained) {
  Json json = MessageToJson(message.AsMessage());
  if (message.role == "assistant") {
    json["weight"] = trained ? 1 : 0;
    json["loss"] = trained;
  }
  return json;
}

std::string MessagesLine(const NewRow& row) {
  Json messages = Json::array();
  for (const RowMessage& message : row.messages) {
    messages.push_back(MarkedMessage(message, message.trained));
  }
  return LineOf({{"messages", std::move(messages)}, {"provenance", *row.provenance}});
}

std::string LastTurnLines(const NewRow& row) {
  std::string lines;
  Json messages = Json::array();
  for (const RowMessage& message : row.messages) {
    if (message.trained) {
      messages.push_back(MarkedMessage(message, true));
      lines += LineOf({{"messages", messages}, {"provenance", *row.provenance}});
      messages.erase(messages.size() - 1);
    }
    messages.push_back(MarkedMessage(message, false));
  }
  return lines;
}

std::string ShareGptLine(const NewRow& row) {
  Json conversations = Json::array();
  for (const RowMessage& message : row.messages) {
    const bool model = message.role == "assistant";
    const std::string from = model ? "gpt" : message.role == "user" ? "human" : message.role;
    conversations.push_back({{"from", from},
                             {"loss", model ? Json(message.trained) : Json(nullptr)},
                             {"value", WithThought(message.AsMessage())}});
  }
  return LineOf({{"conversations", std::move(conversations)},
                 {"item_id", fmt::format("{}_{}", row.family, row.task_id)},
                 {"provenance", *row.provenance}});
}

std::string PromptCompletionLines(const NewRow& row) {
  std::string lines;
  Json prompt = Json::array();
  for (const RowMessage& message : row.messages) {
    Json said = MessageToJson(message.AsMessage());
    if (message.role == "assistant" && message.trained) {
      lines += LineOf({{"prompt", prompt},
                       {"completion", Json::array({said})},
                       {"provenance", *row.provenance}});
    }
    prompt.push_back(std::move(said));
  }
  return lines;
}

std::string PreferenceLine(const NewRow& row) {
  if (!row.correction) return "";
  return LineOf({{"prompt", MessagesToJson(row.correction->prompt)},
                 {"chosen", MessagesToJson({row.correction->chosen})},
                 {"rejected", MessagesToJson({row.correction->rejected})},
                 {"provenance", *row.provenance}});
}

std::string SegmentsLine(const NewRow& row) {
  Json segments = Json::array();
  for (const RowMessage& message : row.messages) {
    Json segment = {{"role", message.role}, {"loss", message.trained}};
    const std::string text = WithThought(message.AsMessage());
    // A turn that was changed is text.
    if (message.response != nullptr && *message.response == text) {
      segment["ids"] = message.ids;
      if (!message.logprobs.empty()) segment["logprobs"] = message.logprobs;
    } else {
      segment["text"] = text;
    }
    segments.push_back(std::move(segment));
  }
  return LineOf({{"segments", std::move(segments)}, {"provenance", *row.provenance}});
}

std::string TokensLine(const NewRow& row, const ChatEncoder& encoder) {
  const Result<TokenRow> tokens = EncodeRow(row.messages, encoder);
  if (!tokens) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("the model's chat template cannot express the conversations of "
                                 "{}: {}; choose another one with --chat_template",
                                 row.family, tokens.error().message));
  }
  constexpr int32_t kNotTrained = -100;  // of PyTorch's cross entropy
  Json loss = Json::array();
  std::vector<int32_t> labels = tokens->ids;
  for (size_t i = 0; i < labels.size(); ++i) {
    loss.push_back(tokens->trained[i] ? 1 : 0);
    if (!tokens->trained[i]) labels[i] = kNotTrained;
  }
  Json line = {{"ids", tokens->ids}, {"loss", std::move(loss)}};
  // A list of nulls alone would give the column a type of its own in datasets.
  if (std::ranges::any_of(tokens->logprobs, [](const auto& known) { return known.has_value(); })) {
    Json& logprobs = line["logprobs"] = Json::array();
    for (const std::optional<float>& logprob : tokens->logprobs) {
      logprobs.push_back(logprob ? Json(*logprob) : Json(nullptr));
    }
  }
  line["revision"] = tokens->revision.begin == tokens->revision.end
                         ? Json(nullptr)
                         : Json{tokens->revision.begin, tokens->revision.end};
  line["tokenizer"] = encoder.tokenizer_hash();
  line["input_ids"] = tokens->ids;
  line["labels"] = labels;
  line["provenance"] = *row.provenance;
  return LineOf(line);
}

}  // namespace

std::unique_ptr<RowFormat> MakeRowFormat(std::string_view name, const ChatEncoder* encoder) {
  const auto format = [](DataFormat of, auto line) {
    return std::make_unique<RowFormat>(NamesOf(of).suffix, std::move(line));
  };
  if (name == "agent-r") return format(DataFormat::kAgentR, AgentRLine);
  if (name == "messages") return format(DataFormat::kMessages, MessagesLine);
  if (name == "last_turn") return format(DataFormat::kLastTurn, LastTurnLines);
  if (name == "sharegpt") return format(DataFormat::kShareGpt, ShareGptLine);
  if (name == "prompt_completion") {
    return format(DataFormat::kPromptCompletion, PromptCompletionLines);
  }
  if (name == "tokens" && encoder == nullptr) return format(DataFormat::kSegments, SegmentsLine);
  if (name == "tokens") {
    return format(DataFormat::kTokens,
                  [encoder](const NewRow& row) { return TokensLine(row, *encoder); });
  }
  if (name == "preference") {
    return std::make_unique<RowFormat>(kPreferenceSuffix, PreferenceLine);
  }
  if (name == "provenance") {
    return std::make_unique<RowFormat>(".provenance.jsonl",
                                       [](const NewRow& row) { return LineOf(*row.provenance); });
  }
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--format: \"{}\" is not agent-r, messages, "
                               "sharegpt, prompt_completion, last_turn, tokens or "
                               "preference",
                               name));
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
