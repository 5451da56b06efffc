#include "common/cli11.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/nearest_name.h"
#include "common/secret.h"
#include "common/text.h"
#include "common/toml.h"

namespace agentr {

std::vector<CLI::ConfigItem> TomlConfig::from_config(std::istream& input) const {
  const std::string text(std::istreambuf_iterator<char>(input), {});
  std::vector<CLI::ConfigItem> config;
  for (TomlItem& toml : ParseToml(text)) {
    CLI::ConfigItem& item = config.emplace_back();
    const auto renamed = former_.find("--" + toml.key);
    item.name = renamed == former_.end() ? std::move(toml.key) : renamed->second.substr(2);
    item.inputs = std::move(toml.values);
  }
  return config;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string out;
  if (option->get_type_size() != 0) {
    // CLI11 appends the checks to the name of the type: "INT:>= 1", "TEXT:{a,b}".
    const std::string type = option->get_type_name();
    const size_t colon = type.find(':');
    const bool choices = colon != std::string::npos && type.compare(colon, 2, ":{") == 0;
    out += ' ' + (choices ? type.substr(colon + 1) : type.substr(0, colon));
    const std::string value = option->get_default_str();
    if (!value.empty() && value != "[]") out += " [" + value + "]";
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) out += " ...";
  }
  if (!option->get_envname().empty()) out += " $" + option->get_envname();
  return out;
}

namespace {

// For a message with a mistyped option: the nearest one.
std::string NearestOption(const std::string& message, const CLI::App& app) {
  const size_t one = message.find(" -");  // of "-task" with one hyphen
  const size_t begin = std::min(message.find("--"), one == std::string::npos ? one : one + 1);
  if (begin == std::string::npos) return "";
  const size_t end = std::min(message.find_first_of(" ,=]", begin), message.size());
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) names.push_back(option->get_name());
  }
  return DidYouMean(message.substr(begin, end - begin), names);
}

// For the message "--option: word not in {one,other}": the nearest one.
std::string NearestChoice(const std::string& message) {
  constexpr std::string_view kNotIn = " not in {";
  const size_t end = message.find(kNotIn);
  if (end == std::string::npos || !message.ends_with('}')) return "";
  const size_t begin = message.rfind(' ', end - 1) + 1;
  std::vector<std::string> names;
  const size_t list = end + kNotIn.size();
  for (const std::string_view name :
       SplitText(std::string_view(message).substr(list, message.size() - 1 - list), ',')) {
    names.emplace_back(name);
  }
  return DidYouMean(message.substr(begin, end - begin), names);
}

ExitCode PrintFileError(const CLI::FileError& error) {
  fmt::print(stderr, "error: --config: {}\n", EscapeControls(error.what()));
  return ExitCode::kFile;
}

// "INI was not able to parse KEY", or "KEY: This option is not allowed in a configuration file".
ExitCode PrintConfigError(const CLI::ConfigError& error, const CLI::App& app) {
  const std::string text = error.what();
  const size_t only_here = text.find(": This option is not allowed");
  if (only_here != std::string::npos) {
    fmt::print(
        stderr,
        "error: --config: give '--{}' on the command line, because it applies to one run only\n",
        EscapeControls(text.substr(0, only_here)));
    return ExitCode::kUsage;
  }
  const std::string key = text.substr(text.find_last_of(' ') + 1);
  fmt::print(stderr, "error: --config: there is no option '{}'{}\n{} --help lists the options\n",
             EscapeControls(RedactSecrets(key)), NearestOption("--" + key, app), app.get_name());
  return ExitCode::kUsage;
}

}  // namespace

ExitCode PrintParseError(const CLI::ParseError& error, const CLI::App& app) {
  if (const auto* file = dynamic_cast<const CLI::FileError*>(&error)) return PrintFileError(*file);
  if (const auto* config = dynamic_cast<const CLI::ConfigError*>(&error)) {
    return PrintConfigError(*config, app);
  }
  std::string text = error.what();
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    // "Could not convert: --min = abc"
    const size_t colon = text.find(": ");
    if (colon != std::string::npos) text.erase(0, colon + 2);
    text += " does not have the type of its option";
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) text += NearestOption(text, app);
  text += NearestChoice(text);
  fmt::print(stderr, "error: {}\n{} --help lists the options\n",
             EscapeControls(RedactSecrets(text)), app.get_name());
  return ExitCode::kUsage;
}

}  // namespace agentr
