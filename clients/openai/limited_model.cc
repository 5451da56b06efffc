#include "clients/openai/limited_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "common/interrupt.h"
#include "common/options.h"

namespace agentr {
namespace {

constexpr std::chrono::milliseconds kStopCheck(100);  // whether the run is being stopped

}  // namespace

void Declare(OptionSet& set, ModelLimits& o) {
  set.Add("--llm_rate", o.rate,
          "The most requests per minute to the model's servers (0: any number)")
      .Min(0)
      .OnlySpeed();
  set.Add("--llm_budget", o.budget,
          "End the requests of this run when they have used this many tokens or, with --llm_price, "
          "this much money (0: no limit)")
      .Min(0)
      .OnlyOutput();
  set.Add("--llm_price", o.llm_price,
          "IN:OUT, the prices of a million prompt tokens and of a million new tokens, such as "
          "2.5:10; then the summary and run.json contain the cost")
      .OnlyOutput();
  set.AfterParsing([&o] {
    if (!o.llm_price.empty()) o.price = TokenPrice::Parse(o.llm_price);
  });
}

double TokenPrice::Of(const Usage& usage) const {
  return prompt * static_cast<double>(usage.prompt_tokens) +
         completion * static_cast<double>(usage.completion_tokens);
}

TokenPrice TokenPrice::Parse(const std::string& text) {
  const auto number = [&](const std::string& part) {
    char* end = nullptr;
    const double value = std::strtod(part.c_str(), &end);
    if (part.empty() || *end != '\0' || !std::isfinite(value) || value < 0) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("--llm_price '{}' is not IN:OUT, two prices per million tokens, "
                                   "such as 2.5:10",
                                   text));
    }
    return value / 1e6;
  };
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string out = colon < text.size() ? text.substr(colon + 1) : "";
  return {number(text.substr(0, colon)), number(out)};
}

LimitedModel::Time LimitedModel::RealTime() {
  return {[] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return std::chrono::duration<double>(now).count();
          },
          SleepUnless(Interrupted())};
}

LimitedModel::LimitedModel(std::unique_ptr<LanguageModel> inner, const ModelLimits& limits,
                           Time time)
    : ForwardingModel(*inner), owned_(std::move(inner)), limits_(limits), time_(std::move(time)) {}

Result<CompletionBatch> LimitedModel::Complete(std::span<const Message> prompt, int n,
                                               const SamplingParams& sampling) {
  return Limited(EstimateTokens(prompt), n, sampling,
                 [&] { return inner_.Complete(prompt, n, sampling); });
}

Result<CompletionBatch> LimitedModel::CompletePrepared(const PreparedPrompt& prompt, int n,
                                                       const SamplingParams& sampling) {
  return Limited(prompt.tokens, n, sampling,
                 [&] { return inner_.CompletePrepared(prompt, n, sampling); });
}

double LimitedModel::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

double LimitedModel::CostOf(const Usage& usage) const {
  if (limits_.price) return limits_.price->Of(usage);
  return static_cast<double>(usage.prompt_tokens + usage.completion_tokens);
}

Result<CompletionBatch> LimitedModel::Limited(int64_t prompt_tokens, int n,
                                              const SamplingParams& sampling, const Call& call) {
  Usage largest;
  // A server that ignores n gets the prompt n times.
  largest.prompt_tokens = asks_for_each_ ? n * prompt_tokens : prompt_tokens;
  largest.completion_tokens = static_cast<int64_t>(n) * sampling.max_tokens;
  const double most = CostOf(largest);
  AGENTR_RETURN_IF_ERROR(Reserve(most));
  if (auto turn = WaitForTurn(); !turn) {
    Settle(most, 0, 0);
    return tl::make_unexpected(turn.error());
  }
  Result<CompletionBatch> batch = call();
  if (!batch) {
    Settle(most, 0, 0);
    return batch;
  }
  Usage usage = batch->usage;
  if (usage.requests > 1) asks_for_each_ = true;
  if (usage.prompt_tokens == 0) usage.prompt_tokens = prompt_tokens;  // the server does not say
  Settle(most, CostOf(usage), usage.requests + usage.retries - 1);
  return batch;
}

Result<void> LimitedModel::Reserve(double most) {
  std::unique_lock lock(mutex_);
  const auto fits = [&] {
    return limits_.budget <= 0 || spent_ + reserved_ + most <= limits_.budget;
  };
  while (!settled_.wait_for(lock, kStopCheck, [&] { return fits() || in_flight_ == 0; })) {
    if (Interrupted()) {
      return Fail(ErrorKind::kCancelled, "stopped while waiting for the budget of --llm_budget");
    }
  }
  if (!fits()) {
    return Fail(ErrorKind::kRejected,
                fmt::format("the budget of the model is spent: {} of {} {} are used, and this "
                            "request may need {} (--llm_budget; run the same command again to "
                            "continue with a new budget)",
                            spent_, limits_.budget, limits_.price ? "in money" : "tokens", most));
  }
  reserved_ += most;
  ++in_flight_;
  return {};
}

Result<void> LimitedModel::WaitForTurn() {
  if (limits_.rate <= 0) return {};
  double wait_s = 0;
  {
    const std::lock_guard lock(mutex_);
    const double now = time_.now();
    due_ = std::max(due_, now);
    wait_s = due_ - now;
    due_ += 60 / limits_.rate;
  }
  if (wait_s > 0 && !time_.sleep(wait_s)) {
    return Fail(ErrorKind::kCancelled, "stopped while waiting for the rate of --llm_rate");
  }
  return {};
}

void LimitedModel::Settle(double most, double cost, int64_t more_requests) {
  {
    const std::lock_guard lock(mutex_);
    --in_flight_;
    // Sums of differences leave rounding errors, and an empty reservation is exactly 0.
    reserved_ = in_flight_ == 0 ? 0 : reserved_ - most;
    spent_ += cost;
    if (limits_.rate > 0)
      due_ += 60 / limits_.rate * static_cast<double>(std::max<int64_t>(more_requests, 0));
  }
  settled_.notify_all();
}

}  // namespace agentr
