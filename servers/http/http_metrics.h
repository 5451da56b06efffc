// The counters of an HTTP service and their Prometheus text.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace agentr {

// Requests to one route. Thread-safe.
class RouteMetrics {
 public:
  void Record(int status, std::chrono::nanoseconds latency);

  // Appends lines of the families below; `route` is "POST /step".
  void AppendRequests(std::string_view route, std::string& out) const;
  void AppendLatency(std::string_view route, std::string& out) const;

 private:
  // Upper bounds of the histogram's buckets in seconds; the last bucket has no bound.
  static constexpr std::array kBuckets = {0.0001, 0.001, 0.01, 0.1, 1.0, 10.0};
  // The last element counts all other statuses.
  static constexpr std::array kStatuses = {200, 400, 401, 403, 404, 405,
                                           413, 422, 431, 500, 503, 0};

  std::array<std::atomic<uint64_t>, kStatuses.size()> by_status_ = {};
  std::array<std::atomic<uint64_t>, kBuckets.size() + 1> by_latency_ = {};
  std::atomic<uint64_t> latency_ns_ = 0;
};

// "# HELP …" and "# TYPE …" of a family of metrics.
void AppendMetricHead(std::string_view name, std::string_view type, std::string_view help,
                      std::string& out);

// A whole family of one number.
void AppendMetric(std::string_view name, std::string_view type, std::string_view help,
                  uint64_t value, std::string& out);

}  // namespace agentr
