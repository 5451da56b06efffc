// A language model with a rate and a budget, for models on servers that cost money or refuse many
// requests.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "clients/forwarding_model.h"
#include "clients/http/retry.h"

namespace agentr {

class OptionSet;

// The prices of one token. Tokens that a server takes from its cache count like others.
struct TokenPrice {
  double prompt = 0;
  double completion = 0;

  // Of "IN:OUT", the prices of a million prompt tokens and of a million new tokens. Throws
  // FatalError(kUsage) for another text or a negative price.
  static TokenPrice Parse(const std::string& text);

  double Of(const Usage& usage) const;
};

struct ModelLimits {
  double rate = 0;             // requests per minute; 0: unlimited
  double budget = 0;           // of one run: tokens or, with a price, money; 0: unlimited
  std::string llm_price = "";  // as given: "IN:OUT" or ""
  std::optional<TokenPrice> price = std::nullopt;  // parsed from llm_price by Declare

  // In money; 0 without a price.
  double Cost(const Usage& usage) const { return price ? price->Of(usage) : 0; }
};

// Declares --llm_rate, --llm_budget, --llm_price.
void Declare(OptionSet& set, ModelLimits& limits);

// Each Complete waits until its request is due: requests begin evenly spaced, and what the model
// sends again counts too. A request is only made if its largest cost (the prompt and n full
// completions) fits into the rest of the budget, so the budget is never exceeded by requests that
// succeed; where it does not fit, requests in progress are awaited, because they may cost less than
// their largest cost. Then the error is kRejected. Thread-safe.
class LimitedModel : public ForwardingModel {
 public:
  struct Time {
    std::function<double()> now;  // seconds, monotonic
    Sleeper sleep;
  };
  static Time RealTime();

  LimitedModel(std::unique_ptr<LanguageModel> inner, const ModelLimits& limits,
               Time time = RealTime());

  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override;
  Result<CompletionBatch> CompletePrepared(const PreparedPrompt& prompt, int n,
                                           const SamplingParams& sampling) override;

  // In the unit of the budget.
  double spent() const;

 private:
  using Call = std::function<Result<CompletionBatch>()>;

  Result<CompletionBatch> Limited(int64_t prompt_tokens, int n, const SamplingParams& sampling,
                                  const Call& call);
  double CostOf(const Usage& usage) const;
  Result<void> Reserve(double most);
  Result<void> WaitForTurn();
  void Settle(double most, double cost, int64_t more_requests);

  const std::unique_ptr<LanguageModel> owned_;  // inner_
  const ModelLimits limits_;
  const Time time_;

  std::atomic<bool> asks_for_each_ = false;  // the server returned one completion per request

  mutable std::mutex mutex_;
  std::condition_variable settled_;
  double spent_ = 0;
  double reserved_ = 0;  // largest cost of the requests in progress
  int in_flight_ = 0;    // the number of these
  double due_ = 0;       // when the next request may begin
};

}  // namespace agentr
