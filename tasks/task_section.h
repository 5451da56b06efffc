// A section of a task file: reads its keys, and refuses what is wrong with its line, its section
// and its key: "FILE, line 7: [step] reward: …".
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/named_values.h"
#include "common/nearest_name.h"
#include "common/pattern.h"
#include "common/toml_library.h"

namespace agentr {

using TomlJson = nlohmann::ordered_json;

// A value as JSON; nullopt if it is or holds a date or a time.
inline std::optional<TomlJson> ToJson(const toml::node& node) {
  if (const auto* text = node.as_string()) return TomlJson(text->get());
  if (const auto* number = node.as_integer()) return TomlJson(number->get());
  if (const auto* number = node.as_floating_point()) return TomlJson(number->get());
  if (const auto* truth = node.as_boolean()) return TomlJson(truth->get());
  if (const auto* list = node.as_array()) {
    TomlJson all = TomlJson::array();
    for (const toml::node& item : *list) {
      std::optional<TomlJson> value = ToJson(item);
      if (!value) return std::nullopt;
      all.push_back(std::move(*value));
    }
    return all;
  }
  if (const auto* table = node.as_table()) {
    TomlJson all = TomlJson::object();
    for (const auto& [key, item] : *table) {
      std::optional<TomlJson> value = ToJson(item);
      if (!value) return std::nullopt;
      all[std::string(key.str())] = std::move(*value);
    }
    return all;
  }
  return std::nullopt;
}

// One section of a file. Every key that is asked for is known; End refuses the others.
class Section {
 public:
  Section(const toml::table& file, std::string name, std::string place)
      : name_(std::move(name)), place_(std::move(place)) {
    const toml::node* const node = file.get(name_);
    if (node == nullptr) return;
    table_ = node->as_table();
    if (table_ == nullptr) Refuse(*node, "", fmt::format("must be a section: [{}]", name_));
  }
  // An inline table within the section `name`.
  static Section Within(const toml::table& table, std::string name, std::string place) {
    return Section(std::move(name), std::move(place), &table);
  }

  const toml::node* Find(const std::string& key) {
    known_.push_back(key);
    return table_ == nullptr ? nullptr : table_->get(key);
  }
  bool Has(const std::string& key) { return Find(key) != nullptr; }

  void Read(const std::string& key, std::string& value) {
    const toml::node* const node = Find(key);
    if (node == nullptr) return;
    if (!node->is_string()) Refuse(*node, key, "needs a text in quotes");
    value = node->as_string()->get();
  }
  void Read(const std::string& key, bool& value) {
    const toml::node* const node = Find(key);
    if (node == nullptr) return;
    if (!node->is_boolean()) Refuse(*node, key, "needs true or false, without quotes");
    value = node->as_boolean()->get();
  }
  void Read(const std::string& key, double& value) {
    const toml::node* const node = Find(key);
    if (node == nullptr) return;
    if (!node->is_number()) Refuse(*node, key, "needs a number");
    value = *node->value<double>();
  }
  template <typename Integer>
  void ReadWhole(const std::string& key, Integer& value, int64_t least) {
    const toml::node* const node = Find(key);
    if (node == nullptr) return;
    const auto number = node->is_integer() ? node->value<int64_t>() : std::nullopt;
    if (!number || *number < least || !std::in_range<Integer>(*number)) {
      Refuse(*node, key, fmt::format("needs a whole number of at least {}", least));
    }
    value = static_cast<Integer>(*number);
  }
  void Read(const std::string& key, std::vector<std::string>& values) {
    const toml::node* const node = Find(key);
    if (node == nullptr) return;
    values.clear();
    ForEachText(*node, key,
                [&](const toml::node&, const std::string& text) { values.push_back(text); });
  }
  void Read(const std::string& key, std::vector<Pattern>& patterns) {
    const toml::node* const node = Find(key);
    if (node == nullptr) return;
    ForEachText(*node, key, [&](const toml::node& item, const std::string& text) {
      patterns.push_back(MakePattern(item, key, text));
    });
  }
  void Read(const std::string& key, std::optional<Pattern>& pattern) {
    std::string text;
    Read(key, text);
    if (!text.empty()) pattern = MakePattern(*Find(key), key, text);
  }
  template <typename T, size_t n>
  void Read(const std::string& key, T& value, const std::array<NamedValue<T>, n>& names) {
    std::string text;
    Read(key, text);
    if (!Has(key)) return;
    const auto found = ValueOf(names, text);
    if (!found) {
      std::vector<std::string> all;
      for (const auto& named : names) all.emplace_back(named.first);
      Refuse(
          *Find(key), key,
          fmt::format("\"{}\" is none of {}{}", text, fmt::join(all, ", "), DidYouMean(text, all)));
    }
    value = *found;
  }
  // A JSON pointer: "" or "/name/…".
  void ReadPointer(const std::string& key, std::string& pointer) {
    Read(key, pointer);
    if (Has(key)) CheckPointer(*Find(key), key, pointer);
  }
  void CheckPointer(const toml::node& node, const std::string& key, const std::string& pointer) {
    try {
      TomlJson::json_pointer check(pointer);
    } catch (const TomlJson::exception&) {
      Refuse(node, key,
             fmt::format(
                 "\"{}\" is no JSON pointer: write \"/name\" for a field, \"/0\" for the first "
                 "item of a list, \"\" for the whole reply",
                 pointer));
    }
  }
  void ReadPath(const std::string& key, std::string& path, const std::string& base) {
    Read(key, path);
    if (path.empty()) return;
    if (!path.starts_with('/')) Refuse(key, "a path begins with \"/\"");
    path = base + path;
  }

  [[noreturn]] void Refuse(const toml::node& node, const std::string& key,
                           const std::string& reason) const {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("{}, line {}: [{}]{}{}: {}", place_, node.source().begin.line,
                                 name_, key.empty() ? "" : " ", key, reason));
  }
  [[noreturn]] void Miss(const std::string& key, const std::string& reason) const {
    const auto line = table_ == nullptr ? 1 : table_->source().begin.line;
    throw FatalError(ExitCode::kUsage, fmt::format("{}, line {}: [{}] has no {}: {}", place_, line,
                                                   name_, key, reason));
  }

  // The same for the value of a key that the section has.
  [[noreturn]] void Refuse(const std::string& key, const std::string& reason) {
    Refuse(*Find(key), key, reason);
  }

  // Refuses what nobody asked for.
  void End() const {
    if (table_ == nullptr) return;
    for (const auto& [key, node] : *table_) {
      const std::string name(key.str());
      if (std::ranges::find(known_, name) != known_.end()) continue;
      std::set<std::string> once(known_.begin(), known_.end());
      const std::vector<std::string> names(once.begin(), once.end());
      const std::string near = DidYouMean(name, names);
      Refuse(node, name,
             "there is no such key" +
                 (near.empty() ? fmt::format("; the keys are {}", fmt::join(names, ", ")) : near));
    }
  }

  const std::string& place() const { return place_; }

 private:
  Section(std::string name, std::string place, const toml::table* table)
      : name_(std::move(name)), place_(std::move(place)), table_(table) {}

  template <typename OnText>
  void ForEachText(const toml::node& node, const std::string& key, OnText&& on_text) const {
    if (node.is_string()) return on_text(node, node.as_string()->get());
    if (!node.is_array()) Refuse(node, key, "needs a text in quotes, or a list of such texts");
    for (const toml::node& item : *node.as_array()) {
      if (!item.is_string()) Refuse(item, key, "needs a list of texts in quotes");
      on_text(item, item.as_string()->get());
    }
  }
  Pattern MakePattern(const toml::node& node, const std::string& key,
                      const std::string& text) const {
    try {
      return Pattern(text);
    } catch (const FatalError& error) {
      Refuse(node, key, error.what());
    }
  }

  const std::string name_;
  const std::string place_;
  const toml::table* table_ = nullptr;
  std::vector<std::string> known_;
};

}  // namespace agentr
