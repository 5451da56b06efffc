// Replies of OpenAI's API for language models, as pure functions: complete, or as the events of a
// stream.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lm/engine/generation.h"
#include "lm/tokenizer/tokenizer.h"
#include "servers/http/http_service.h"
#include "servers/lm/lm_request.h"

namespace agentr {

// One reply, or one stream.
struct LmReply {
  LmRequest request;
  const Tokenizer* tokenizer;
  std::string model;
  std::string id;       // "chatcmpl-…", "cmpl-…"
  int64_t created = 0;  // seconds since 1970

  // A complete reply with text, token ids and log-probabilities (one per sampled token, including
  // the stop token).
  std::string Whole(const Generation& generation) const;

  // A stream is Opening, any number of Pieces, and Closing, which contains the values known only at
  // the end: finish reasons, token ids, usage. Log-probabilities are sent with the text that their
  // tokens complete: `tokens` are those since the last piece, and `offset` is the number of
  // characters before them, to which Piece adds theirs. After an error Broken replaces Closing.
  std::string Opening() const;
  std::string Piece(int index, std::string_view text, const GeneratedSequence& tokens,
                    int64_t& offset) const;
  // `rest`, `offsets`: for each completion, as in Piece.
  std::string Closing(const Generation& generation, std::span<const GeneratedSequence> rest,
                      std::span<const int64_t> offsets) const;
  std::string Broken(const HttpStatusError& error) const;
};

// {"error": {"message", "type", "param", "code"}}
std::string LmErrorBody(const HttpStatusError& error);

}  // namespace agentr
