#include "servers/http/http_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace agentr {

void RouteMetrics::Record(int status, std::chrono::nanoseconds latency) {
  const auto known = std::find(kStatuses.begin(), kStatuses.end() - 1, status);
  by_status_[static_cast<size_t>(known - kStatuses.begin())].fetch_add(1,
                                                                       std::memory_order_relaxed);
  const double seconds = std::chrono::duration<double>(latency).count();
  const auto bucket = std::ranges::lower_bound(kBuckets, seconds);
  by_latency_[static_cast<size_t>(bucket - kBuckets.begin())].fetch_add(1,
                                                                        std::memory_order_relaxed);
  latency_ns_.fetch_add(static_cast<uint64_t>(latency.count()), std::memory_order_relaxed);
}

void RouteMetrics::AppendRequests(std::string_view route, std::string& out) const {
  for (size_t i = 0; i < kStatuses.size(); ++i) {
    const uint64_t count = by_status_[i].load(std::memory_order_relaxed);
    if (count == 0) continue;
    const std::string status = kStatuses[i] == 0 ? "other" : fmt::to_string(kStatuses[i]);
    fmt::format_to(std::back_inserter(out),
                   "agentr_http_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", route, status,
                   count);
  }
}

void RouteMetrics::AppendLatency(std::string_view route, std::string& out) const {
  uint64_t count = 0;
  for (size_t i = 0; i < by_latency_.size(); ++i) {
    count += by_latency_[i].load(std::memory_order_relaxed);
    const std::string end = i < kBuckets.size() ? fmt::to_string(kBuckets[i]) : "+Inf";
    fmt::format_to(std::back_inserter(out),
                   "agentr_http_request_seconds_bucket{{route=\"{}\",le=\"{}\"}} {}\n", route, end,
                   count);
  }
  const double sum = static_cast<double>(latency_ns_.load(std::memory_order_relaxed)) * 1e-9;
  fmt::format_to(std::back_inserter(out),
                 "agentr_http_request_seconds_sum{{route=\"{0}\"}} {1}\n"
                 "agentr_http_request_seconds_count{{route=\"{0}\"}} {2}\n",
                 route, sum, count);
}

void AppendMetricHead(std::string_view name, std::string_view type, std::string_view help,
                      std::string& out) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void AppendMetric(std::string_view name, std::string_view type, std::string_view help,
                  uint64_t value, std::string& out) {
  AppendMetricHead(name, type, help, out);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

}  // namespace agentr
