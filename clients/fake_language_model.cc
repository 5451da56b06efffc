#include "clients/fake_language_model.h"

#include <memory>
#include <utility>

namespace agentr {

FakeLanguageModel::FakeLanguageModel(std::vector<std::string> texts)
    : FakeLanguageModel([texts = std::move(texts), next = std::make_shared<size_t>(0)](
                            std::span<const Message>, int n, const SamplingParams&) {
        std::vector<std::string> out;
        for (int i = 0; i < n; ++i) out.push_back(texts[(*next)++ % texts.size()]);
        return out;
      }) {}

Result<CompletionBatch> FakeLanguageModel::Complete(std::span<const Message> prompt, int n,
                                                    const SamplingParams& sampling) {
  std::lock_guard lock(mutex_);
  const auto call = static_cast<int64_t>(prompts_.size());
  prompts_.emplace_back(prompt.begin(), prompt.end());
  for (const auto& [number, error] : failures_) {
    if (number == call) return tl::make_unexpected(error);
  }
  CompletionBatch batch;
  for (std::string& text : script_(prompt, n, sampling)) {
    batch.completions.push_back({std::move(text), "stop", {}, {}});
  }
  batch.usage.requests = 1;
  return batch;
}

void FakeLanguageModel::FailAt(int64_t call, Error error) {
  std::lock_guard lock(mutex_);
  failures_.emplace_back(call, std::move(error));
}

int64_t FakeLanguageModel::calls() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(prompts_.size());
}

std::vector<std::vector<Message>> FakeLanguageModel::prompts() const {
  std::lock_guard lock(mutex_);
  return prompts_;
}

}  // namespace agentr
