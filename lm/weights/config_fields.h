// Strict reading of a configuration file: a field that is missing, of the wrong type or out of
// range is a FatalError(kFile) naming file and field. null counts as missing, as in Python.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/json_fields.h"

namespace agentr {

class ConfigFields {
 public:
  // `prefix`: put before the names in messages if the object is itself a field.
  ConfigFields(std::filesystem::path path, nlohmann::json object, std::string prefix = "")
      : path_(std::move(path)), object_(std::move(object)), prefix_(std::move(prefix)) {}

  bool Has(const std::string& name) const { return !Raw(name).is_null(); }
  // True also for null.
  bool Contains(const std::string& name) const { return object_.contains(name); }
  // The field's value; null if it is missing.
  const nlohmann::json& Raw(const std::string& name) const {
    static const nlohmann::json kNull;
    const auto found = object_.find(name);
    return found == object_.end() ? kNull : *found;
  }

  // T: bool, std::string, int64_t, double.
  template <typename T>
  T Get(const std::string& name) const {
    const nlohmann::json& value = Raw(name);
    if (value.is_null()) Refuse(name, "is missing");
    if (!IsJson<T>(value)) Refuse(name, fmt::format("has the wrong type ({})", value.type_name()));
    return value.template get<T>();
  }

  template <typename T>
  T Get(const std::string& name, T otherwise) const {
    return Has(name) ? Get<T>(name) : otherwise;
  }

  // A size: at least 1, and small enough that the product of two sizes cannot overflow.
  int64_t Size(const std::string& name) const {
    const auto size = Get<int64_t>(name);
    if (size < 1 || size > INT32_MAX) Refuse(name, fmt::format("is {}, not a size", size));
    return size;
  }

  double Positive(const std::string& name) const {
    const auto value = Get<double>(name);
    if (!(value > 0)) Refuse(name, fmt::format("is {}, not above 0", value));
    return value;
  }
  double Positive(const std::string& name, double otherwise) const {
    return Has(name) ? Positive(name) : otherwise;
  }

  ConfigFields Object(const std::string& name) const {
    const nlohmann::json& value = Raw(name);
    if (!value.is_object()) Refuse(name, "is no object");
    return ConfigFields(path_, value, prefix_ + name + ".");
  }

  [[noreturn]] void Refuse(const std::string& name, std::string_view what) const {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: {}{} {}", path_.string(), prefix_, name, what));
  }

 private:
  std::filesystem::path path_;
  nlohmann::json object_;
  std::string prefix_;
};

}  // namespace agentr
