#include "servers/lm/lm_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

// A token may be a part of a character, and then it is not valid text: DumpJson replaces it.
std::string Event(const Json& json) { return "data: " + DumpJson(json) + "\n\n"; }

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json TokenJson(const Tokenizer& tokenizer, int32_t token, float logprob) {
  const std::string bytes = tokenizer.TokenBytes(token);
  return {{"token", bytes},
          {"logprob", logprob},
          {"bytes", std::vector<uint8_t>(bytes.begin(), bytes.end())}};
}

Json ChatLogprobs(const GeneratedSequence& sequence, const Tokenizer& tokenizer) {
  Json content = Json::array();
  for (size_t i = 0; i < sequence.token_ids.size(); ++i) {
    Json token = TokenJson(tokenizer, sequence.token_ids[i], sequence.logprobs[i]);
    token["top_logprobs"] = Json::array();
    if (i < sequence.alternatives.size()) {
      for (const TokenLogprob& other : sequence.alternatives[i]) {
        token["top_logprobs"].push_back(TokenJson(tokenizer, other.token, other.logprob));
      }
    }
    content.push_back(std::move(token));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

int64_t Characters(std::string_view utf8) {
  return std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; });
}

// The key of a token in a JSON object. Bytes that are not text have OpenAI's form
// ("bytes:\\xe2\\x82"), so that different tokens have different keys.
std::string TokenName(const Tokenizer& tokenizer, int32_t token) {
  std::string bytes = tokenizer.TokenBytes(token);
  if (IsUtf8(bytes)) return bytes;
  std::string name = "bytes:";
  for (const char c : bytes) name += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return name;
}

// `offset`: number of characters before the first token; those of all tokens are added to it.
Json CompletionLogprobs(const GeneratedSequence& sequence, const Tokenizer& tokenizer,
                        int64_t& offset) {
  Json tokens = Json::array();
  Json top = Json::array();
  Json offsets = Json::array();
  for (size_t i = 0; i < sequence.token_ids.size(); ++i) {
    tokens.push_back(TokenName(tokenizer, sequence.token_ids[i]));
    offsets.push_back(offset);
    offset += Characters(tokenizer.TokenBytes(sequence.token_ids[i]));
    if (i >= sequence.alternatives.size()) continue;
    Json& alternatives = top.emplace_back(Json::object());
    for (const TokenLogprob& other : sequence.alternatives[i]) {
      // Among tokens with the same text the more probable one is kept.
      alternatives.emplace(TokenName(tokenizer, other.token), other.logprob);
    }
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", sequence.logprobs},
          {"top_logprobs", top.empty() ? Json() : std::move(top)},
          {"text_offset", std::move(offsets)}};
}

// The log-probabilities of `tokens`, a part of a completion; null if none are requested.
Json Logprobs(const LmReply& reply, const GeneratedSequence& tokens, int64_t& offset) {
  if (!reply.request.logprobs) return nullptr;
  return reply.request.api == LmApi::kChat ? ChatLogprobs(tokens, *reply.tokenizer)
                                           : CompletionLogprobs(tokens, *reply.tokenizer, offset);
}

// Adds the values known at the end of a completion to its choice.
void Finish(const LmReply& reply, const GeneratedSequence& sequence, Json& choice) {
  const bool chat = reply.request.api == LmApi::kChat;
  choice["finish_reason"] = sequence.finish_reason;
  if (!reply.request.return_token_ids) return;
  choice["token_ids"] = sequence.token_ids;
  if (!chat) choice["prompt_token_ids"] = reply.request.generation.prompt;
}

Json UsageJson(const Generation& generation) {
  int64_t completion = 0;
  for (const GeneratedSequence& sequence : generation.sequences) {
    completion += std::ssize(sequence.token_ids) + sequence.left_out;
  }
  return {{"prompt_tokens", generation.prompt_tokens},
          {"completion_tokens", completion},
          {"total_tokens", generation.prompt_tokens + completion},
          {"prompt_tokens_details", {{"cached_tokens", generation.cached_tokens}}}};
}

Json Head(const LmReply& reply, bool chunk) {
  const std::string_view chat = chunk ? "chat.completion.chunk" : "chat.completion";
  Json json = {{"id", reply.id},
               {"object", reply.request.api == LmApi::kChat ? chat : "text_completion"},
               {"created", reply.created},
               {"model", reply.model},
               {"choices", Json::array()}};
  if (chunk && reply.request.include_usage) json["usage"] = nullptr;
  return json;
}

void AddPromptIds(const LmReply& reply, Json& json) {
  const bool chat = reply.request.api == LmApi::kChat;
  if (chat && reply.request.return_token_ids)
    json["prompt_token_ids"] = reply.request.generation.prompt;
}

// The event with the new part of one completion: `delta` for a chat, `text` for a completion.
Json Chunk(const LmReply& reply, int index, Json delta, std::string_view text) {
  Json json = Head(reply, /*chunk=*/true);
  Json& choice = json["choices"].emplace_back(Json{{"index", index}});
  if (reply.request.api == LmApi::kChat) {
    choice["delta"] = std::move(delta);
  } else {
    choice["text"] = text;
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = nullptr;
  return json;
}

}  // namespace

std::string LmReply::Whole(const Generation& generation) const {
  Json json = Head(*this, /*chunk=*/false);
  for (size_t i = 0; i < generation.sequences.size(); ++i) {
    const GeneratedSequence& sequence = generation.sequences[i];
    Json& choice = json["choices"].emplace_back(Json{{"index", i}});
    if (request.api == LmApi::kChat) {
      choice["message"] = {{"role", "assistant"}, {"content", sequence.text}};
    } else {
      choice["text"] = sequence.text;
    }
    int64_t offset = 0;
    choice["logprobs"] = Logprobs(*this, sequence, offset);
    Finish(*this, sequence, choice);
  }
  json["usage"] = UsageJson(generation);
  AddPromptIds(*this, json);
  return DumpJson(json);
}

std::string LmReply::Opening() const {
  if (request.api != LmApi::kChat) return "";
  std::string events;
  for (int i = 0; i < request.generation.n; ++i) {
    Json json = Chunk(*this, i, {{"role", "assistant"}, {"content", ""}}, "");
    AddPromptIds(*this, json);
    events += Event(json);
  }
  return events;
}

std::string LmReply::Piece(int index, std::string_view text, const GeneratedSequence& tokens,
                           int64_t& offset) const {
  Json json = Chunk(*this, index, {{"content", text}}, text);
  json["choices"].front()["logprobs"] = Logprobs(*this, tokens, offset);
  return Event(json);
}

std::string LmReply::Closing(const Generation& generation, std::span<const GeneratedSequence> rest,
                             std::span<const int64_t> offsets) const {
  std::string events;
  for (size_t i = 0; i < generation.sequences.size(); ++i) {
    Json json = Chunk(*this, static_cast<int>(i), Json::object(), "");
    int64_t offset = offsets[i];
    if (!rest[i].token_ids.empty()) {
      json["choices"].front()["logprobs"] = Logprobs(*this, rest[i], offset);
    }
    Finish(*this, generation.sequences[i], json["choices"].front());
    events += Event(json);
  }
  if (request.include_usage) {
    Json json = Head(*this, /*chunk=*/true);
    json["usage"] = UsageJson(generation);
    events += Event(json);
  }
  return events + "data: [DONE]\n\n";
}

std::string LmReply::Broken(const HttpStatusError& error) const {
  return "data: " + LmErrorBody(error) + "\n\ndata: [DONE]\n\n";
}

std::string LmErrorBody(const HttpStatusError& error) {
  return DumpJson<Json>(
      {{"error",
        {{"message", error.what()},
         {"type", error.status() >= 500 ? "server_error" : "invalid_request_error"},
         {"param", OrNull(error.field())},
         {"code", OrNull(error.code())}}}});
}

}  // namespace agentr
