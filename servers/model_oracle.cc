#include "servers/model_oracle.h"

#include <fmt/format.h>

#include <utility>

namespace agentr {

ModelOracle::ModelOracle(std::unique_ptr<LanguageModel> model, const WordTable& words)
    : model_(std::move(model)), request_(" Answer with yes or no."), max_tokens_(16) {
  for (const GuessWord& word : words.words()) {
    facts_.push_back(fmt::format("The object is {}.", word.aliases.front()));
  }
}

ModelOracle::ModelOracle(std::unique_ptr<LanguageModel> model, const CityTable& cities)
    : model_(std::move(model)), max_tokens_(64) {
  for (const CityFacts& city : cities.cities()) {
    facts_.push_back(fmt::format("Your home town is {}, {}.", city.city, city.country));
  }
}

Result<std::string> ModelOracle::Answer(size_t word, std::string_view question) const {
  const std::vector<Message> prompt = {
      {"user", fmt::format("{} {}{}", facts_[word], question, request_)}};
  SamplingParams greedy;
  greedy.temperature = 0;
  greedy.max_tokens = max_tokens_;
  const Result<CompletionBatch> batch = model_->Complete(prompt, 1, greedy);
  if (!batch) {
    return Fail(batch.error().kind,
                fmt::format("the oracle has not answered: {}", batch.error().message));
  }
  std::string text = batch->completions.front().text;
  // An answer is one line of the history.
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace agentr
