#include "lm/engine/sequence.h"

#include <fmt/format.h>

#include <algorithm>

namespace agentr {

int64_t Capacity(const DecoderShape& shape) {
  return std::min<int64_t>(shape.max_context, int64_t{shape.blocks} * shape.block_tokens);
}

std::optional<Error> CheckTokens(std::span<const int32_t> tokens, int64_t positions,
                                 const DecoderShape& shape) {
  const int64_t capacity = Capacity(shape);
  if (positions > capacity) {
    const bool pool = capacity < shape.max_context;
    return Error{
        ErrorKind::kContextLength,
        fmt::format(
            "the request needs {} tokens (the prompt and at least one more), but {} at most {}: {}",
            positions, pool ? "the memory for keys and values holds" : "the model's context is",
            capacity,
            pool ? "shorten the prompt or raise --kv_cache_gib"
                 : "shorten the prompt or raise --model_context")};
  }
  for (const int32_t token : tokens) {
    if (token >= 0 && token < shape.vocab_size) continue;
    return Error{ErrorKind::kRejected,
                 fmt::format("token id {} is out of range: the model has 0 to {}", token,
                             shape.vocab_size - 1)};
  }
  return std::nullopt;
}

}  // namespace agentr
