#include "rollout/run_metrics.h"

#include <fmt/format.h>

#include <utility>

#include "servers/http/http_metrics.h"
#include "servers/http/http_service.h"

namespace agentr {
namespace {

// "agentr_run_model_prompt_tokens_total", … for every field of a table of sums.
template <typename Fields, typename T>
void AppendSums(const Fields& fields, const T& sums, const std::string& family, std::string& out) {
  for (const auto& field : fields) {
    AppendMetric(fmt::format("agentr_run_{}_{}_total", family, field.name), "counter",
                 fmt::format("{} of finished and failed tasks.", field.name),
                 static_cast<uint64_t>(sums.*field.member), out);
  }
}

}  // namespace

std::string MetricsText(const std::string& what, const std::string& units,
                        const ProgressState& state) {
  std::string out;
  const auto add = [&](const char* name, const char* type, const std::string& help, int64_t value) {
    AppendMetric(fmt::format("agentr_run_{}", name), type, help, static_cast<uint64_t>(value), out);
  };
  add("tasks", "gauge", fmt::format("Number of {} that were asked for.", what), state.total);
  add("done_total", "counter", fmt::format("Finished {}.", what), state.done);
  add("failed_total", "counter", "Tasks that ended with an error.", state.failed);
  add("skipped_total", "counter", "Tasks that needed no work here.", state.skipped);
  add("units_total", "counter", fmt::format("Number of {} so far.", units), state.units);
  add("seconds_total", "counter", "Time since the run started.",
      static_cast<int64_t>(state.elapsed_s));
  return out;
}

std::string MetricsText(const std::string& what, const std::string& units,
                        const ProgressState& state, const RunReport& costs) {
  std::string out = MetricsText(what, units, state);
  AppendSums(kUsageFields, costs.usage, "model", out);
  AppendSums(kExecutionFields, costs.execution, "environment", out);
  return out;
}

RunMetrics::RunMetrics(int port, std::function<std::string()> text) {
  HttpServiceOptions options;
  options.port = port;
  options.threads = 16;
  service_ = std::make_unique<HttpService>(std::move(options));
  service_->AddMetrics([text = std::move(text)](std::string& out) { out += text(); });
  service_->Start();
}

RunMetrics::~RunMetrics() = default;

}  // namespace agentr
