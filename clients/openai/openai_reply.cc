#include "clients/openai/openai_reply.h"

#include <fmt/format.h>

#include <utility>

#include "clients/http/json_fields.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

int64_t Count(const Json& usage, const std::string& name) {
  return Field<int64_t>(usage, name).value_or(0);
}

void AddUsage(const Json& reply, Usage& usage) {
  usage.requests = 1;
  const Json told = reply.value("usage", Json());
  if (!told.is_object()) return;
  usage.prompt_tokens = Count(told, "prompt_tokens");
  usage.completion_tokens = Count(told, "completion_tokens");
  const Json details = told.value("prompt_tokens_details", Json());
  if (details.is_object()) usage.cached_tokens = Count(details, "cached_tokens");
}

}  // namespace

tl::unexpected<Error> BadReply(std::string_view path, const std::string& message) {
  return Fail(ErrorKind::kProtocol, fmt::format("the {} reply: {}", path, message));
}

// Servers put their message in "error" (an object with "message", or a text) or in "message".
std::string ReplyErrorText(const Json& reply) {
  if (!reply.is_object()) return "";
  const Json& error = reply.contains("error") ? reply["error"] : reply;
  if (error.is_string()) return error.get<std::string>();
  if (!error.is_object() || !error.contains("message")) return "";
  return error["message"].is_string() ? error["message"].get<std::string>() : "";
}

Result<std::vector<int32_t>> ReplyTokenIds(const Json& choice, std::string_view path) {
  std::vector<int32_t> out;
  const auto found = choice.find("token_ids");
  if (found == choice.end() || found->is_null()) return out;
  if (!found->is_array()) return BadReply(path, "field 'token_ids' has the wrong type");
  for (const Json& id : *found) {
    const bool fits = id.is_number_unsigned() && id.get<uint64_t>() <= INT32_MAX;
    if (!fits) return BadReply(path, "field 'token_ids' contains a value that is not a token id");
    out.push_back(id.get<int32_t>());
  }
  return out;
}

Result<CompletionBatch> ParseReply(
    std::string_view reply, std::string_view path, size_t max_text,
    const std::function<Result<Completion>(const Json& choice)>& parse_choice) {
  AGENTR_ASSIGN_OR_RETURN(const Json object, ParseObject(reply, fmt::format("{} reply", path)));
  if (!object.contains("choices") && object.contains("error")) {
    return Fail(ErrorKind::kServer,
                "the model's server says: " + EscapeControls(ReplyErrorText(object)));
  }
  const auto choices = Field<Json::array_t>(object, "choices");
  if (!choices) return BadReply(path, choices.error().message);
  if (choices->empty()) return BadReply(path, "field 'choices' is empty");
  CompletionBatch batch;
  for (const Json& choice : *choices) {
    AGENTR_ASSIGN_OR_RETURN(Completion completion, parse_choice(choice));
    if (completion.text.size() > max_text) {
      return Fail(ErrorKind::kRejected,
                  fmt::format("the model's completion has {} bytes, over the limit of {} "
                              "(--llm_max_completion); does it repeat itself? A lower "
                              "--max_tokens ends it",
                              completion.text.size(), max_text));
    }
    batch.completions.push_back(std::move(completion));
  }
  AddUsage(object, batch.usage);
  return batch;
}

}  // namespace agentr
