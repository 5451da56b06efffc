// A language model for tests: seeded choices among given actions, or whatever the test answers.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

class ToyModel : public LanguageModel {
 public:
  // Draws each completion from `actions` with one of two thoughts, so that now and then a response
  // or only its action comes twice. The draws depend on sampling.seed alone.
  explicit ToyModel(std::vector<std::string> actions) : actions_(std::move(actions)) {}

  std::string name() const override { return "toy-model"; }
  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override;
  // Ten tokens per message, so that a test can count in turns.
  Result<PreparedPrompt> Prepare(std::vector<Message> conversation,
                                 SampledIds sampled = {}) const override;

  // Answers instead of the draws, where set: the texts of the completions, or an error.
  std::function<Result<std::vector<std::string>>(std::span<const Message>, int n)> reply;
  // Of every completion.
  std::string finish_reason = "stop";
  std::string reasoning;
  // Called in every Complete, outside of locks: waits, sleeps.
  std::function<void()> wait;

  // Prompts seen so far, in order, with the sampling of each.
  std::vector<std::vector<Message>> prompts() const;
  std::vector<SamplingParams> samplings() const;
  int most_at_once() const { return most_at_once_; }
  int at_once() const { return at_once_; }

  // The response that carries `action`.
  static std::string Response(const std::string& action, int thought = 0);

 private:
  Result<std::vector<std::string>> Texts(std::span<const Message> prompt, int n,
                                         const SamplingParams& sampling) const;

  const std::vector<std::string> actions_;
  std::atomic<int> at_once_ = 0;
  std::atomic<int> most_at_once_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::vector<Message>> prompts_;  // guarded by mutex_
  std::vector<SamplingParams> samplings_;      // guarded by mutex_
};

}  // namespace agentr
