#include "servers/lm/lm_stream.h"

#include <utility>

namespace agentr {

TextStream::TextStream(Engine& engine, GenerationRequest request)
    : fresh_(static_cast<size_t>(request.n)),
      pending_(engine.Generate(WithPieces(std::move(request)))),
      waiter_([this] {
        Result<Generation> result = pending_.Wait();
        const std::lock_guard lock(mutex_);
        result_ = std::move(result);
        wake_.notify_one();
      }) {}

TextStream::~TextStream() {
  pending_.Cancel();
  waiter_.join();
}

GenerationRequest TextStream::WithPieces(GenerationRequest request) {
  request.on_text = [this](int index, std::string_view text) {
    const std::lock_guard lock(mutex_);
    pieces_.push_back(
        {index, std::string(text), std::exchange(fresh_[static_cast<size_t>(index)], {})});
    wake_.notify_one();
  };
  request.on_token = [this](int index, TokenLogprob token,
                            std::span<const TokenLogprob> alternatives) {
    AddToken(index, token, alternatives);
  };
  return request;
}

void TextStream::AddToken(int index, TokenLogprob token,
                          std::span<const TokenLogprob> alternatives) {
  const std::lock_guard lock(mutex_);
  GeneratedSequence& fresh = fresh_[static_cast<size_t>(index)];
  fresh.token_ids.push_back(token.token);
  fresh.logprobs.push_back(token.logprob);
  if (!alternatives.empty())
    fresh.alternatives.emplace_back(alternatives.begin(), alternatives.end());
}

Result<void> TextStream::Begin() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return !pieces_.empty() || result_; });
  if (pieces_.empty() && !*result_) return tl::make_unexpected(result_->error());
  return {};
}

std::optional<TextStream::Piece> TextStream::Next() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return !pieces_.empty() || result_; });
  if (pieces_.empty()) return std::nullopt;
  Piece piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

}  // namespace agentr
