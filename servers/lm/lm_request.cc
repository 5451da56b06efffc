#include "servers/lm/lm_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/json_depth.h"
#include "servers/http/http_service.h"

namespace agentr {
namespace {

using json = nlohmann::json;

constexpr int64_t kMostCompletions = 1024;  // completions per request
constexpr int64_t kMostAlternatives = 20;   // OpenAI's limit of top_logprobs
constexpr int64_t kMostTokens = std::numeric_limits<int32_t>::max();

[[noreturn]] void Refuse(const std::string& field, std::string_view must) {
  throw HttpStatusError(400, fmt::format("The field '{}' {}.", field, must), "", field);
}

// The optional fields of an object; null counts as missing, because OpenAI's clients send it.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}

  const json* Find(const std::string& name) const {
    const auto at = object_.find(name);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

  // The name of a field that begins with the prefix and is not null.
  std::optional<std::string> FirstThatBegins(std::string_view prefix) const {
    for (const auto& [name, value] : object_.items()) {
      if (name.starts_with(prefix) && !value.is_null()) return name;
    }
    return std::nullopt;
  }

  bool Bool(const std::string& name) const {
    const json* value = Find(name);
    if (value && !value->is_boolean()) Refuse(name, "must be true or false");
    return value && value->get<bool>();
  }

  std::optional<int64_t> Int(const std::string& name, int64_t least, int64_t most) const {
    const json* value = Find(name);
    if (!value) return std::nullopt;
    // An unsigned number above the range of int64_t would wrap around.
    const bool fits = value->is_number_integer() &&
                      (!value->is_number_unsigned() ||
                       value->get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
    const int64_t number = fits ? value->get<int64_t>() : 0;
    if (!fits || number < least || number > most) {
      Refuse(name, fmt::format("must be an integer from {} to {}", least, most));
    }
    return number;
  }

  double Number(const std::string& name, double fallback) const {
    const json* value = Find(name);
    if (value && !value->is_number()) Refuse(name, "must be a number");
    return value ? value->get<double>() : fallback;
  }

  std::string Text(const std::string& name) const {
    const json* value = Find(name);
    if (value && !value->is_string()) Refuse(name, "must be a string");
    return value ? value->get<std::string>() : "";
  }

 private:
  const json& object_;
};

// The unsupported fields, each with the neutral value.
void RefuseWhatIsNotOffered(const Fields& fields) {
  using Neutral = std::pair<const char*, json>;
  static const std::vector<Neutral> kNeutral = {
      // OpenAI's
      {"audio", nullptr},
      {"best_of", 1},
      {"echo", false},
      {"frequency_penalty", 0},
      {"function_call", "none"},
      {"functions", json::array()},
      {"logit_bias", json::object()},
      {"modalities", json::array({"text"})},
      {"presence_penalty", 0},
      {"response_format", {{"type", "text"}}},
      {"suffix", ""},
      {"tool_choice", "none"},
      {"tools", json::array()},
      // vLLM's and SGLang's
      {"add_generation_prompt", true},
      {"allowed_token_ids", nullptr},
      {"bad_words", json::array()},
      {"chat_template", nullptr},
      {"continue_final_message", false},
      {"documents", json::array()},
      {"ebnf", nullptr},
      {"ignore_eos", false},
      {"include_stop_str_in_output", false},
      {"json_schema", nullptr},
      {"length_penalty", 1},
      {"logits_processors", json::array()},
      {"min_tokens", 0},
      {"prompt_embeds", nullptr},
      {"prompt_logprobs", nullptr},
      {"regex", nullptr},
      {"skip_special_tokens", true},
      {"stop_token_ids", json::array()},
      {"structural_tag", nullptr},
      {"structured_outputs", nullptr},
      {"truncate_prompt_tokens", nullptr},
      {"use_beam_search", false},
      // llama.cpp's
      {"grammar", ""},
      {"mirostat", 0},
      {"typical_p", 1},
  };
  for (const auto& [name, neutral] : kNeutral) {
    const json* value = fields.Find(name);
    if (value && *value != neutral) Refuse(name, "is not supported by this server");
  }
  if (const auto guided = fields.FirstThatBegins("guided_")) {
    Refuse(*guided, "is not supported by this server");
  }
}

// A text, or a list of parts that are all texts.
std::string ContentOf(const json& message) {
  const json content = message.value("content", json());
  if (content.is_null()) return "";
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) Refuse("messages", "has a content that is neither string nor list");
  std::string text;
  for (const json& part : content) {
    if (!part.is_object() || part.value("type", json()) != "text" || !part.contains("text") ||
        !part["text"].is_string()) {
      Refuse("messages",
             "has a content with a part that is not a text; other parts are not supported");
    }
    text += part["text"].get_ref<const std::string&>();
  }
  return text;
}

// The thought of an assistant's message, if the client sends it apart.
std::string ThoughtOf(const json& message) {
  const json thought = message.value("reasoning_content", json());
  if (thought.is_null()) return "";
  if (!thought.is_string()) Refuse("messages", "has a reasoning_content that is no string");
  return message["role"] == "assistant" ? thought.get<std::string>() : "";
}

bool IsTokenId(const json& id) { return id.is_number_integer() && id >= 0 && id <= kMostTokens; }

// The token ids that the model sampled for a message.
std::vector<int32_t> SampledIdsOf(const json& message) {
  const json ids = message.value("token_ids", json());
  if (ids.is_null()) return {};
  if (!ids.is_array() || !std::ranges::all_of(ids, IsTokenId)) {
    Refuse("messages", "has token_ids that are not a list of token ids");
  }
  return ids.get<std::vector<int32_t>>();
}

void ReadMessages(const Fields& fields, LmRequest& request) {
  const json* list = fields.Find("messages");
  if (!list || !list->is_array() || list->empty()) {
    Refuse("messages", "must be a list of at least one message");
  }
  for (const json& message : *list) {
    if (!message.is_object() || !message.value("role", json()).is_string()) {
      Refuse("messages", "must be a list of objects with role and content");
    }
    std::string role = message["role"].get<std::string>();
    if (role == "developer") role = "system";  // OpenAI's newer name
    if (role != "system" && role != "user" && role != "assistant") {
      Refuse("messages", "has a role other than system, user and assistant");
    }
    request.messages.push_back({std::move(role), ContentOf(message), ThoughtOf(message)});
    request.sampled.push_back(SampledIdsOf(message));
  }
}

// One prompt: a text, a list of token ids, or a list with one of these.
void ReadPrompt(const Fields& fields, LmRequest& request) {
  const json* prompt = fields.Find("prompt");
  if (prompt && prompt->is_array() && prompt->size() == 1 && !prompt->front().is_number()) {
    prompt = &prompt->front();
  }
  if (prompt && prompt->is_string()) {
    request.prompt = prompt->get<std::string>();
    return;
  }
  if (!prompt || !prompt->is_array() || prompt->empty()) {
    Refuse("prompt", "must be a string or a list of token ids, and not empty");
  }
  for (const json& id : *prompt) {
    if (!IsTokenId(id)) {
      Refuse("prompt", "must be one string or one list of token ids; send a request per prompt");
    }
    request.token_ids.push_back(id.get<int32_t>());
  }
}

std::vector<std::string> StopOf(const Fields& fields) {
  const json* stop = fields.Find("stop");
  if (!stop) return {};
  const json list = stop->is_array() ? *stop : json::array({*stop});
  std::vector<std::string> texts;
  for (const json& text : list) {
    if (!text.is_string() || text.get_ref<const std::string&>().empty()) {
      Refuse("stop", "must be a string or a list of strings, none of them empty");
    }
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

// A chat has a switch and the number of alternatives; a completion has only the number.
void ReadLogprobs(const Fields& fields, LmRequest& request) {
  if (request.api == LmApi::kChat) {
    request.logprobs = fields.Bool("logprobs");
    const auto top = fields.Int("top_logprobs", 0, kMostAlternatives);
    if (top.value_or(0) > 0 && !request.logprobs) {
      Refuse("top_logprobs", "goes with \"logprobs\": true");
    }
    request.generation.top_logprobs = static_cast<int>(top.value_or(0));
  } else if (const auto top = fields.Int("logprobs", 0, kMostAlternatives)) {
    request.logprobs = true;
    request.generation.top_logprobs = static_cast<int>(*top);
  }
}

void ReadSampling(const Fields& fields, LmRequest& request) {
  GenerationRequest& generation = request.generation;
  generation.n = static_cast<int>(fields.Int("n", 1, kMostCompletions).value_or(1));
  SamplingParams& params = generation.params;
  params.temperature = fields.Number("temperature", 1);
  if (params.temperature < 0) Refuse("temperature", "must be a number of at least 0");
  params.top_p = fields.Number("top_p", 1);
  if (params.top_p <= 0 || params.top_p > 1) Refuse("top_p", "must be above 0 and at most 1");
  params.min_p = fields.Number("min_p", 0);
  if (params.min_p < 0 || params.min_p > 1) Refuse("min_p", "must be a number from 0 to 1");
  params.repetition_penalty = fields.Number("repetition_penalty", 1);
  if (params.repetition_penalty <= 0) Refuse("repetition_penalty", "must be a number above 0");
  // In vLLM -1 means all tokens.
  const int64_t top_k = fields.Int("top_k", -1, kMostTokens).value_or(0);
  generation.params.top_k = static_cast<int>(std::max<int64_t>(top_k, 0));
  generation.params.stop = StopOf(fields);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (const auto seed = fields.Int("seed", kLeast, kMost)) {
    request.seed = static_cast<uint64_t>(*seed);
  }
  // If both are given, OpenAI's newer name for chats takes precedence.
  for (const char* name : {"max_completion_tokens", "max_tokens"}) {
    const auto tokens = fields.Int(name, 1, kMostTokens);
    if (tokens && !request.max_tokens) request.max_tokens = static_cast<int>(*tokens);
  }
}

}  // namespace

LmRequest ParseLmRequest(LmApi api, std::string_view body) {
  const json object = ParseJson(body);
  if (object.is_discarded()) {
    throw HttpStatusError(
        400, IsTooDeep(body)
                 ? fmt::format("The body is nested deeper than {} levels.", kDeepestJson)
                 : "The body is not valid JSON.");
  }
  if (!object.is_object()) throw HttpStatusError(400, "The body must be a JSON object.");
  const Fields fields(object);
  RefuseWhatIsNotOffered(fields);
  LmRequest request;
  request.api = api;
  request.model = fields.Text("model");
  if (const json* kwargs = fields.Find("chat_template_kwargs")) {
    if (!kwargs->is_object()) Refuse("chat_template_kwargs", "must be an object");
    if (api != LmApi::kChat && !kwargs->empty()) {
      Refuse("chat_template_kwargs", "goes with a chat");
    }
    if (!kwargs->empty()) request.chat_kwargs = *kwargs;
  }
  if (api == LmApi::kChat) {
    ReadMessages(fields, request);
  } else {
    ReadPrompt(fields, request);
  }
  ReadSampling(fields, request);
  ReadLogprobs(fields, request);
  request.return_token_ids = fields.Bool("return_token_ids");
  request.stream = fields.Bool("stream");
  if (const json* options = fields.Find("stream_options")) {
    if (!options->is_object()) Refuse("stream_options", "must be an object");
    request.include_usage = Fields(*options).Bool("include_usage");
  }
  return request;
}

}  // namespace agentr
