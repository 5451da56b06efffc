#include "common/json_stream.h"

#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "common/error.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

// Builds one element of the outermost value at a time.
class ElementBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit ElementBuilder(const OnJsonElement& on_element) : on_element_(on_element) {}

  bool null() override { return Take(nullptr); }
  bool boolean(bool value) override { return Take(value); }
  bool number_integer(number_integer_t value) override { return Take(value); }
  bool number_unsigned(number_unsigned_t value) override { return Take(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return Take(value); }
  bool string(string_t& value) override { return Take(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return Open(Json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t /*size*/) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }
  bool key(string_t& value) override {
    (open_.empty() ? name_ : key_) = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    error_ = fmt::format("byte {}: {}", position, error.what());
    return false;
  }

  const std::optional<std::string>& error() const { return error_; }
  bool opened() const { return opened_; }

 private:
  bool Open(Json value) {
    if (!opened_) return opened_ = true;
    Json* const at = Put(std::move(value));
    open_.push_back(at);
    return true;
  }

  bool Close() {
    if (open_.empty()) return true;  // the outermost one
    open_.pop_back();
    return !open_.empty() || Finish();
  }

  bool Take(Json value) {
    if (!opened_) {
      error_ = "byte 1: neither an array nor an object";
      return false;
    }
    Put(std::move(value));
    return !open_.empty() || Finish();
  }

  // Inserts the value and returns its place. The pointers in open_ stay valid, because only the
  // innermost container grows.
  Json* Put(Json value) {
    if (open_.empty()) {
      element_ = std::move(value);
      return &element_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    Json& member = parent[key_];
    member = std::move(value);
    return &member;
  }

  bool Finish() { return on_element_(name_, element_); }

  const OnJsonElement& on_element_;
  bool opened_ = false;  // the outermost value
  std::string name_;     // of the element
  std::string key_;      // of the next member within it
  Json element_;
  std::vector<Json*> open_;  // the containers being built, from the element inwards
  std::optional<std::string> error_;
};

}  // namespace

void ForEachJsonElement(const std::filesystem::path& path, const OnJsonElement& on_element) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) {
    throw FatalError(ExitCode::kFile, fmt::format("cannot read {}", path.string()));
  }
  ElementBuilder builder(on_element);
  nlohmann::ordered_json::sax_parse(in, &builder);
  if (builder.error()) {
    throw FatalError(ExitCode::kFile, fmt::format("{} is not JSON of the expected kind: {}",
                                                  path.string(), *builder.error()));
  }
}

}  // namespace agentr
