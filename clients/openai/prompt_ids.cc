#include "clients/openai/prompt_ids.h"

#include <fmt/format.h>

#include <iterator>
#include <type_traits>
#include <utility>

#include "clients/http/json_fields.h"
#include "clients/message_json.h"
#include "clients/openai/openai_reply.h"
#include "common/json_depth.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

constexpr const char* kTokenizeReply = "the /tokenize reply";

// The log-probabilities of a completion's tokens, whose form differs from that of a chat.
Result<std::vector<float>> TokenLogprobs(const Json& choice) {
  const Json logprobs = choice.value("logprobs", Json());
  if (logprobs.is_null()) return std::vector<float>();
  const auto found = logprobs.find("token_logprobs");
  if (found == logprobs.end() || !IsJson<std::vector<float>>(*found)) {
    return BadReply("/completions", "field 'token_logprobs' is missing or no list of numbers");
  }
  return found->get<std::vector<float>>();
}

Result<Completion> ParseTextChoice(const Json& choice) {
  Completion completion;
  AGENTR_ASSIGN_OR_RETURN(completion.text, Field<std::string>(choice, "text"));
  AGENTR_ASSIGN_OR_RETURN(completion.logprobs, TokenLogprobs(choice));
  AGENTR_ASSIGN_OR_RETURN(completion.token_ids, ReplyTokenIds(choice, "/completions"));
  return completion;
}

}  // namespace

std::optional<std::string> ServedIdentity(std::string_view reply, const std::string& name) {
  const auto object = ParseObject(reply, "/models reply");
  if (!object) return std::nullopt;
  const Json models = object->value("data", Json());
  for (const Json& model : models.is_array() ? models : Json::array()) {
    if (!model.is_object() || model.value("id", Json()) != name) continue;
    const Json ours = model.value("agentr", Json());
    if (ours.is_object() && ours.value("identity", Json()).is_string()) {
      return ours["identity"].get<std::string>();
    }
  }
  return std::nullopt;
}

std::string TokenizeBody(const std::string& model, std::span<const Message> conversation,
                         SampledIds sampled, const std::string& chat_kwargs) {
  Json messages = Json::array();
  for (size_t i = 0; i < conversation.size(); ++i) {
    Json& message = messages.emplace_back(MessageToJson<Json>(conversation[i]));
    if (i < sampled.size() && !sampled[i].empty()) message["token_ids"] = sampled[i];
  }
  Json body = {{"model", model}, {"messages", std::move(messages)}};
  if (!chat_kwargs.empty()) body["chat_template_kwargs"] = Json::parse(chat_kwargs);
  return DumpJson(body);
}

Result<PreparedPrompt> ParseTokenize(std::string_view reply) {
  AGENTR_ASSIGN_OR_RETURN(const Json object, ParseObject(reply, kTokenizeReply));
  PreparedPrompt prompt;
  const auto list = [&](const char* name, auto& target) -> Result<void> {
    using List = std::decay_t<decltype(target)>;
    if (!object.contains(name) || !IsJson<List>(object[name])) {
      return Fail(ErrorKind::kProtocol,
                  fmt::format("{}: field '{}' is missing or no list of ids", kTokenizeReply, name));
    }
    target = object[name].template get<List>();
    return {};
  };
  AGENTR_RETURN_IF_ERROR(list("tokens", prompt.ids));
  AGENTR_RETURN_IF_ERROR(list("message_begins", prompt.message_begins));
  AGENTR_ASSIGN_OR_RETURN(prompt.reused_turns, Field<int64_t>(object, "reused_turns"));
  AGENTR_ASSIGN_OR_RETURN(prompt.reencoded_turns, Field<int64_t>(object, "reencoded_turns"));
  prompt.tokens = std::ssize(prompt.ids);
  return prompt;
}

std::string CompletionsBody(const std::string& model, std::span<const int32_t> prompt, int n,
                            int first, const SamplingParams& sampling, const ChatExtras& extras) {
  Json body = {{"model", model},
               {"prompt", prompt},
               {"n", n},
               {"temperature", sampling.temperature},
               {"top_k", sampling.top_k},
               {"top_p", sampling.top_p},
               {"min_p", sampling.min_p},
               {"repetition_penalty", sampling.repetition_penalty},
               {"max_tokens", sampling.max_tokens},
               {"return_token_ids", true}};
  if (!sampling.stop.empty()) body["stop"] = sampling.stop;
  if (extras.seed) body["seed"] = RequestSeed(sampling.seed, first);
  if (sampling.logprobs || extras.logprobs) body["logprobs"] = 0;
  return DumpJson(body);
}

Result<CompletionBatch> ParseCompletions(std::string_view reply, size_t max_text) {
  return ParseReply(reply, "/completions", max_text, ParseTextChoice);
}

}  // namespace agentr
