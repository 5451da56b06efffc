// A language model with scripted replies that fails on demand, for tests of what uses models.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

// Thread-safe.
class FakeLanguageModel : public LanguageModel {
 public:
  // Returns the n texts that answer `prompt`.
  using Script = std::function<std::vector<std::string>(std::span<const Message> prompt, int n,
                                                        const SamplingParams& sampling)>;

  explicit FakeLanguageModel(Script script) : script_(std::move(script)) {}
  // Replies with `texts` one after the other and begins again after the last.
  explicit FakeLanguageModel(std::vector<std::string> texts);

  std::string name() const override { return "fake"; }
  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override;

  // Makes the call with number `call` (from 0) fail with this error.
  void FailAt(int64_t call, Error error);

  int64_t calls() const;
  // The prompts, in order of the calls.
  std::vector<std::vector<Message>> prompts() const;

 private:
  const Script script_;
  mutable std::mutex mutex_;
  std::vector<std::vector<Message>> prompts_;        // guarded by mutex_
  std::vector<std::pair<int64_t, Error>> failures_;  // guarded by mutex_
};

}  // namespace agentr
