#include "lm/engine/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace agentr {
namespace {

constexpr int kMaxCompletions = 4096;

// The error in the request's parameters; empty if there is none.
std::string Complaint(const GenerationRequest& request, const DecoderShape& shape) {
  const SamplingParams& params = request.params;
  const auto must = [](std::string_view name, std::string_view range, auto value) {
    return fmt::format("{} must be {}, not {}", name, range, value);
  };
  if (request.n < 1 || request.n > kMaxCompletions) {
    return must("n", fmt::format("between 1 and {}", kMaxCompletions), request.n);
  }
  if (request.params.max_tokens < 1)
    return must("max_tokens", "at least 1", request.params.max_tokens);
  if (!(params.temperature >= 0) || !std::isfinite(params.temperature)) {
    return must("temperature", "a number of at least 0", params.temperature);
  }
  if (params.top_k < 0) return must("top_k", "at least 0", params.top_k);
  if (!(params.top_p > 0 && params.top_p <= 1)) {
    return must("top_p", "above 0 and at most 1", params.top_p);
  }
  if (!(params.min_p >= 0 && params.min_p <= 1))
    return must("min_p", "between 0 and 1", params.min_p);
  if (!(params.repetition_penalty > 0) || !std::isfinite(params.repetition_penalty)) {
    return must("repetition_penalty", "a number above 0", params.repetition_penalty);
  }
  if (request.top_logprobs < 0 || request.top_logprobs > shape.vocab_size) {
    return must("top_logprobs", fmt::format("between 0 and {}", shape.vocab_size),
                request.top_logprobs);
  }
  if (request.prompt.empty()) return "the prompt must have at least one token";
  if (std::count(request.params.stop.begin(), request.params.stop.end(), "") > 0) {
    return "a stop string must not be empty";
  }
  return "";
}

}  // namespace

std::optional<Error> Check(const GenerationRequest& request, const DecoderShape& shape) {
  if (std::string complaint = Complaint(request, shape); !complaint.empty()) {
    return Error{ErrorKind::kRejected, std::move(complaint)};
  }
  return CheckTokens(request.prompt, static_cast<int64_t>(request.prompt.size()) + 1, shape);
}

void LeaveOutStop(const Tokenizer& tokenizer, GeneratedSequence& sequence, bool continues_text) {
  const std::vector<int32_t>& ids = sequence.token_ids;
  // The text of the first ids, made as that of the sequence was.
  const auto text_of = [&](size_t count) {
    IncrementalDecoder decoder(tokenizer, /*skip_special=*/true, continues_text);
    std::string text;
    for (size_t i = 0; i < count; ++i) text += decoder.Add(ids[i]);
    return text + decoder.Finish();
  };
  size_t kept = ids.size();
  std::string text = text_of(kept);
  if (text == sequence.text) return;  // a stop token ended it, or the limit
  while (kept > 0 && text.size() > sequence.text.size()) text = text_of(--kept);
  if (text != sequence.text) kept = 0;
  sequence.left_out = std::ssize(ids) - static_cast<int64_t>(kept);
  sequence.token_ids.resize(kept);
  sequence.logprobs.resize(kept);
  if (!sequence.alternatives.empty()) sequence.alternatives.resize(kept);
}

GenerationJob::GenerationJob(GenerationRequest request, const Tokenizer& tokenizer,
                             const DecoderShape& shape)
    : Job(std::ssize(request.prompt)), request_(std::move(request)), not_begun_(request_.n) {
  request_.params.max_tokens = static_cast<int>(
      std::min<int64_t>(request_.params.max_tokens, Capacity(shape) - prompt_tokens()));
  for (int i = 0; i < request_.n; ++i) {
    sequences.push_back(std::make_unique<CompletionSequence>(*this, i, tokenizer));
  }
}

void GenerationJob::Deliver() {
  if (error) return promise_.set_value(tl::make_unexpected(*std::move(error)));
  Generation generation;
  generation.prompt_tokens = prompt_tokens();
  generation.cached_tokens = cached_tokens;
  generation.weights_version = weights_version;
  for (const auto& sequence : sequences) {
    generation.sequences.push_back(static_cast<CompletionSequence&>(*sequence).TakeOutput());
  }
  promise_.set_value(std::move(generation));
}

CompletionSequence::CompletionSequence(GenerationJob& job, int index, const Tokenizer& tokenizer)
    : Sequence(job, job.request_.prompt),
      job_(job),
      index_(index),
      random_(RandomStream(job.request_.params.seed).Split(static_cast<uint64_t>(index))),
      decoder_(tokenizer, /*skip_special=*/true, job.request_.continues_text),
      stop_(job.request_.params.stop) {}

int32_t CompletionSequence::first_logits() const {
  return !begun() && !job_.prompt_logits_.empty() ? size() : size() - 1;
}

void CompletionSequence::ConsumeLogits(std::span<const float> rows, Sampler& sampler) {
  // The first completion stores the prompt's logits for the others.
  if (!rows.empty() && !begun() && job_.request_.n > 1)
    job_.prompt_logits_.assign(rows.begin(), rows.end());
  const GenerationRequest& request = job_.request_;
  sampled_ = sampler.Sample(rows.empty() ? job_.prompt_logits_ : rows, request.params, tokens(),
                            random_, request.top_logprobs);
}

bool CompletionSequence::Commit() {
  if (!begun() && --job_.not_begun_ == 0) job_.prompt_logits_ = {};
  const int32_t token = sampled_.token;
  tokens_.push_back(token);
  output_.logprobs.push_back(sampled_.logprob);
  if (job_.request_.on_token) {
    job_.request_.on_token(index_, {token, sampled_.logprob}, sampled_.alternatives);
  }
  if (job_.request_.top_logprobs > 0) {
    output_.alternatives.push_back(std::move(sampled_.alternatives));
  }
  const std::vector<int32_t>& stop_tokens = job_.request_.stop_tokens;
  if (std::count(stop_tokens.begin(), stop_tokens.end(), token) > 0) return Finish("stop");
  Emit(stop_.Add(decoder_.Add(token)));
  if (stop_.stopped()) return Finish("stop");
  const bool full = output_.logprobs.size() == static_cast<size_t>(job_.request_.params.max_tokens);
  return full && Finish("length");
}

bool CompletionSequence::Finish(std::string_view reason) {
  if (!stop_.stopped()) {
    Emit(stop_.Add(decoder_.Finish()));
    Emit(stop_.Finish());
  }
  output_.finish_reason = reason;
  return true;
}

void CompletionSequence::Emit(std::string_view piece) {
  if (piece.empty()) return;
  output_.text += piece;
  if (job_.request_.on_text) job_.request_.on_text(index_, piece);
}

GeneratedSequence CompletionSequence::TakeOutput() {
  output_.token_ids.assign(tokens_.begin() + job_.prompt_tokens(), tokens_.end());
  return std::move(output_);
}

}  // namespace agentr
