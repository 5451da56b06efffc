// Generation: the n completions of a request.
#pragma once

#include <future>
#include <optional>
#include <string_view>
#include <vector>

#include "common/random.h"
#include "lm/engine/sequence.h"
#include "lm/engine/stop_matcher.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

// The error of a request that can never be answered (see Engine).
std::optional<Error> Check(const GenerationRequest& request, const DecoderShape& shape);

// Removes the tokens of the stop string that ended the sequence, so that what is left are the
// tokens of `text`. If one token has the end of the text and the beginning of the stop string, all
// are removed: the text has to be encoded again. `continues_text`: as in its GenerationRequest.
void LeaveOutStop(const Tokenizer& tokenizer, GeneratedSequence& sequence,
                  bool continues_text = false);

class GenerationJob : public Job {
 public:
  // `request` has passed Check. max_tokens is limited to the rest of the context.
  GenerationJob(GenerationRequest request, const Tokenizer& tokenizer, const DecoderShape& shape);

  // Called once.
  Pending<Generation> pending() { return {promise_.get_future(), cancelled_}; }
  void Deliver() override;

 private:
  friend class CompletionSequence;

  std::promise<Result<Generation>> promise_;
  GenerationRequest request_;
  std::vector<float>
      prompt_logits_;  // logits of the prompt's last token, while some completions have not begun
  int not_begun_;
};

// One completion. It draws only from the stream (seed, index), so it does not depend on other
// requests.
class CompletionSequence : public Sequence {
 public:
  CompletionSequence(GenerationJob& job, int index, const Tokenizer& tokenizer);

  int32_t first_logits() const override;
  bool begun() const override { return !output_.logprobs.empty(); }
  void ConsumeLogits(std::span<const float> rows, Sampler& sampler) override;
  bool Commit() override;

  GeneratedSequence TakeOutput();

 private:
  bool Finish(std::string_view reason);
  void Emit(std::string_view piece);

  GenerationJob& job_;
  const int index_;
  RandomStream random_;
  IncrementalDecoder decoder_;
  StopMatcher stop_;
  SampledToken sampled_;
  GeneratedSequence output_;
};

}  // namespace agentr
