#include "rows/columns.h"

#include <utility>

namespace agentr {
namespace {

using enum Column::Type;

Column Talk(std::string name, std::vector<Column> more = {}) {
  std::vector<Column> fields = {{"role"}, {"content"}};
  for (Column& column : more) fields.push_back(std::move(column));
  return {std::move(name), kString, true, std::move(fields)};
}

Column Numbers(std::string name, Column::Type type = kInt32) {
  return {std::move(name), type, true};
}

}  // namespace

std::vector<Column> ColumnsOf(DataFormat format) {
  switch (format) {
    case DataFormat::kMessages:
    case DataFormat::kLastTurn:
      return {Talk("messages", {{"weight", kInt64}, {"loss", kBool}}), {"provenance"}};
    case DataFormat::kShareGpt:
      return {{"conversations", kString, true, {{"from"}, {"loss", kBool}, {"value"}}},
              {"item_id"},
              {"provenance"}};
    case DataFormat::kAgentR:
      return {{"task_num", kInt64},
              Talk("revise_log", {{"loss", kBool}}),
              Talk("high_log"),
              Talk("low_log"),
              {"task_description"},
              {"revise", kBool},
              {"revise_feedback",
               kString,
               true,
               {{"revision_feedback"}, {"action"}, {"obs"}, {"judgement"}}}};
    case DataFormat::kTokens:
      return {Numbers("ids"),      Numbers("loss"), Numbers("logprobs", kFloat),
              Numbers("revision"), {"tokenizer"},   Numbers("input_ids"),
              Numbers("labels"),   {"provenance"}};
    case DataFormat::kSegments:
      return {{"segments",
               kString,
               true,
               {{"role"}, {"loss", kBool}, Numbers("ids"), Numbers("logprobs", kFloat), {"text"}}},
              {"provenance"}};
    case DataFormat::kPromptCompletion:
      return {Talk("prompt"), Talk("completion"), {"provenance"}};
  }
  return {};
}

}  // namespace agentr
