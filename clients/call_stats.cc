#include "clients/call_stats.h"

#include <nlohmann/json.hpp>
#include <string>

namespace agentr {

nlohmann::json CallStats::Json() const {
  nlohmann::json errors = nlohmann::json::object();
  for (size_t i = 0; i < errors_.size(); ++i) {
    if (errors_[i] > 0) errors[std::string(Name(static_cast<ErrorKind>(i)))] = errors_[i].load();
  }
  nlohmann::json json = {{"calls", calls_.load()},
                         {"retries", retries_.load()},
                         {"reconnects", reconnects_.load()},
                         {"bytes_sent", bytes_sent_.load()},
                         {"bytes_received", bytes_received_.load()},
                         {"errors", errors}};
  if (estimated_usage_ > 0) json["estimated_usage"] = estimated_usage_.load();
  if (textless_ > 0) json["textless"] = textless_.load();
  return json;
}

}  // namespace agentr
