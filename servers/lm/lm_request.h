// Reads and checks requests of OpenAI's API for language models, as pure functions.
//
// Fields: https://platform.openai.com/docs/api-reference/chat and /completions; top_k, min_p,
// repetition_penalty, return_token_ids, chat_template_kwargs and a message's reasoning_content as
// in vLLM. An unsupported field that would change the
// completions (tools, other penalties, …) is refused unless its value is neutral; other unknown
// fields are ignored.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "lm/engine/generation.h"

namespace agentr {

enum class LmApi { kChat, kCompletions };

struct LmRequest {
  LmApi api = LmApi::kChat;
  std::string model;                          // the name in the request; empty if there is none
  std::vector<Message> messages;              // of a chat
  nlohmann::ordered_json chat_kwargs;         // "chat_template_kwargs"; null if not given
  std::vector<std::vector<int32_t>> sampled;  // "token_ids" of each message; empty if not given
  std::string prompt;                         // of a completion: a text, or …
  std::vector<int32_t> token_ids;             // … if the text is empty, token ids
  // Everything except prompt, params.max_tokens, params.seed, stop_tokens and continues_text, which
  // the server adds.
  GenerationRequest generation;
  std::optional<int> max_tokens;
  std::optional<uint64_t> seed;
  bool logprobs = false;
  bool return_token_ids = false;
  bool stream = false;
  bool include_usage = false;  // at the end of a stream
};

// The request in the body of a POST. Throws HttpStatusError(400) naming the field.
LmRequest ParseLmRequest(LmApi api, std::string_view body);

}  // namespace agentr
