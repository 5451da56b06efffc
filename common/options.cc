#include "common/options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "common/cli11.h"
#include "common/installed_file.h"
#include "common/option_docs.h"
#include "common/text.h"
#include "common/toml.h"
#include "common/version.h"

namespace agentr {

OptionSet::Declared& OptionSet::Declared::Min(double least) {
  option_->check(CLI::Validator(
      [least](std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= least) return std::string();
        return fmt::format("{} is not a number of at least {}", text, least);
      },
      fmt::format(">= {}", least)));
  return *this;
}

OptionSet::Declared& OptionSet::Declared::Range(double least, double most) {
  option_->check(CLI::Validator(
      [least, most](std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) {
          return std::string();
        }
        return fmt::format("{} is not a number from {} to {}", text, least, most);
      },
      fmt::format("{} to {}", least, most)));
  return *this;
}

OptionSet::Declared& OptionSet::Declared::OneOf(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

OptionSet::Declared& OptionSet::Declared::NotEmpty() {
  option_->check(CLI::Validator(
      [](std::string& text) {
        return text.empty() ? "is empty: give a value, or leave the option out" : std::string();
      },
      ""));
  return *this;
}

OptionSet::Declared& OptionSet::Declared::Verbatim() {
  option_->allow_extra_args(false);
  return *this;
}

OptionSet::Declared& OptionSet::Declared::OnlyOnCommandLine() {
  option_->configurable(false);
  return *this;
}

class OptionSet::Parser {
 public:
  Parser(const std::string& program, const std::string& description, const std::string& examples);

  // `value`: what resolved.toml says of the option. `settle` may throw CLI::ParseError.
  Declared Finish(CLI::Option* option, const std::string& env,
                  std::function<nlohmann::ordered_json()> value,
                  std::function<void()> settle = nullptr) {
    option->group(group);
    if (!env.empty()) option->envname(env);
    entries_.push_back({option, std::move(value), std::move(settle)});
    return Declared(option, this);
  }

  std::optional<ExitCode> Parse(int argc, const char* const* argv);
  nlohmann::ordered_json Fingerprint() const;

  std::map<std::string, std::string> former;               // "--c": "--exploration"
  std::deque<std::string> texts;                           // of the options with named values
  std::vector<std::function<void()>> setters;              // set those values after parsing
  std::map<const CLI::Option*, std::string_view> effects;  // of those that determine no results
  CLI::App app;
  std::string group = "Options";
  nlohmann::ordered_json resolved = nlohmann::ordered_json::object();

 private:
  // The arguments in the order that CLI11 expects, last one first, with former names replaced.
  std::vector<std::string> InReverse(int argc, const char* const* argv) const;

  ProgramDoc Doc() const;
  // Prints what --help_as asks for; false if the command line does not ask.
  bool HelpAs(int argc, const char* const* argv) const;

  struct Entry {
    const CLI::Option* option;
    std::function<nlohmann::ordered_json()> value;
    std::function<void()> settle;
  };

  std::string_view EffectOf(const Entry& entry) const {
    const auto effect = effects.find(entry.option);
    return effect == effects.end() ? "determines" : effect->second;
  }

  std::vector<Entry> entries_;
  std::string examples_;
};

OptionSet::Declared& OptionSet::Declared::OnlySpeed() {
  parser_->effects[option_] = "speed";
  return *this;
}

OptionSet::Declared& OptionSet::Declared::OnlyOutput() {
  parser_->effects[option_] = "output";
  return *this;
}

OptionSet::Declared& OptionSet::Declared::Formerly(const std::string& flag) {
  parser_->former[flag] = "--" + option_->get_single_name();
  return *this;
}

OptionSet::Parser::Parser(const std::string& program, const std::string& description,
                          const std::string& examples)
    : app(description, program), examples_(examples) {
  app.set_help_flag("-h,--help", "Print this text");
  app.set_version_flag("--version", std::string("agentr ") + std::string(kVersion));
  app.set_config("--config", "", "Read options from a TOML file (the names of the flags are keys)");
  app.get_config_ptr()->configurable(false);
  app.config_formatter(std::make_shared<TomlConfig>(former));
  app.allow_config_extras(CLI::config_extras_mode::error);
  if (!examples.empty()) app.footer("\nExamples:\n" + examples);
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(38);
}

namespace {

// From 2.2 on CLI11 silently leaves out a variable whose value does not suit its option.
void RefuseIgnoredVariable(const CLI::Option& option) {
  if (option.get_envname().empty() || option.count() > 0) return;
  const char* value = std::getenv(option.get_envname().c_str());
  if (value == nullptr || *value == '\0') return;
  throw CLI::ValidationError(
      option.get_name(),
      fmt::format("the environment variable {} is '{}', which is not a valid value for it",
                  option.get_envname(), value));
}

}  // namespace

std::vector<std::string> OptionSet::Parser::InReverse(int argc, const char* const* argv) const {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    std::string argument = argv[i];
    const size_t name = std::min(argument.find('='), argument.size());
    const auto renamed = former.find(argument.substr(0, name));
    if (renamed != former.end()) argument.replace(0, name, renamed->second);
    constexpr std::string_view kConfig = "--config=";
    if (argument.starts_with(kConfig)) {
      argument = std::string(kConfig) + InstalledFile(argument.substr(kConfig.size())).string();
    } else if (i > 1 && std::string_view(argv[i - 1]) == "--config") {
      argument = InstalledFile(argument).string();
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

namespace {

// "TEXT:{a,b}", as CLI11 writes a type and its check -> {"a", "b"}.
std::vector<std::string> ChoicesOf(const std::string& type) {
  const size_t begin = type.find(":{");
  if (begin == std::string::npos) return {};
  const std::string_view list = std::string_view(type).substr(begin + 2);
  const auto choices = SplitText(list.substr(0, list.find('}')), ',');
  return {choices.begin(), choices.end()};
}

}  // namespace

ProgramDoc OptionSet::Parser::Doc() const {
  ProgramDoc doc{app.get_name(), app.get_description(), examples_, std::string(kVersion), {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    std::string type = option->get_type_size() == 0 ? "" : option->get_type_name();
    if (option == app.get_config_ptr()) type = "FILE";
    doc.options.push_back({option->get_group(), option->get_name(/*positional=*/false, true),
                           type.substr(0, type.find(':')), option->get_default_str(),
                           option->get_envname(), option->get_description(), ChoicesOf(type),
                           option->get_expected_max() == CLI::detail::expected_max_vector_size,
                           option->get_positional()});
  }
  // By heading, in the order in which the headings were declared.
  std::vector<std::string> groups;
  for (const OptionDoc& option : doc.options) {
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  std::ranges::stable_sort(doc.options, {}, [&](const OptionDoc& option) {
    return std::ranges::find(groups, option.group) - groups.begin();
  });
  return doc;
}

bool OptionSet::Parser::HelpAs(int argc, const char* const* argv) const {
  constexpr std::string_view kFlag = "--help_as=";
  const std::string_view argument = argc == 2 ? argv[1] : "";
  if (!argument.starts_with(kFlag)) return false;
  const std::string_view kind = argument.substr(kFlag.size());
  if (kind == "man") fmt::print("{}", ManPage(Doc()));
  if (kind == "bash") fmt::print("{}", BashCompletion(Doc()));
  if (kind == "zsh") fmt::print("{}", ZshCompletion(Doc()));
  if (kind == "effects") {
    for (const Entry& entry : entries_) {
      fmt::print("{} --{}\n", EffectOf(entry), entry.option->get_single_name());
    }
  }
  return kind == "man" || kind == "bash" || kind == "zsh" || kind == "effects";
}

nlohmann::ordered_json OptionSet::Parser::Fingerprint() const {
  auto fingerprint = nlohmann::ordered_json::object();
  for (const Entry& entry : entries_) {
    if (EffectOf(entry) != "determines") continue;
    const std::string& name = entry.option->get_single_name();
    fingerprint[name] = resolved.contains(name) ? resolved.at(name) : entry.value();
  }
  return fingerprint;
}

std::optional<ExitCode> OptionSet::Parser::Parse(int argc, const char* const* argv) {
  if (HelpAs(argc, argv)) return ExitCode::kOk;
  try {
    app.parse(InReverse(argc, argv));
    const CLI::Option& config = *app.get_config_ptr();
    if (config.count() > 0 && config.as<std::string>().empty()) {
      throw CLI::ValidationError("--config", "no file is named");
    }
    for (const Entry& entry : entries_) {
      RefuseIgnoredVariable(*entry.option);
      if (entry.settle) entry.settle();
      if (entry.option->get_configurable()) {
        resolved[entry.option->get_single_name()] = entry.value();
      }
    }
  } catch (const CLI::Success& done) {  // --help, --version
    app.exit(done);
    return ExitCode::kOk;
  } catch (const FatalError& error) {  // of the config file
    fmt::print(stderr, "error: --config {}: {}\n", app.get_config_ptr()->as<std::string>(),
               EscapeControls(RedactSecrets(error.what())));
    return error.code();
  } catch (const CLI::ParseError& error) {
    return PrintParseError(error, app);
  }
  for (const auto& set : setters) set();
  return std::nullopt;
}

OptionSet::OptionSet(const std::string& program, const std::string& description,
                     const std::string& examples)
    : parser_(std::make_unique<Parser>(program, description, examples)) {}

OptionSet::~OptionSet() = default;

void OptionSet::Group(const std::string& name) { parser_->group = name; }

namespace {

// Refuses what CLI11 would accept: "nan" and "inf", which no option means, and "-1" and from 2^64
// on, which it reads as 2^64 - 1.
template <typename T>
void RefuseOddNumbers(CLI::Option& option) {
  option.check(CLI::Validator(
      [](std::string& text) {
        if constexpr (std::is_same_v<T, double>) {
          double value = 0;
          const bool finite = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
          return finite ? std::string() : text + " is not a finite number";
        }
        if (text.starts_with('-')) return text + " is below 0";
        errno = 0;
        std::strtoull(text.c_str(), nullptr, 0);
        return errno == ERANGE ? text + " is above 18446744073709551615" : std::string();
      },
      ""));
}

}  // namespace

template <typename T>
OptionSet::Declared OptionSet::Add(const std::string& flag, T& value, const std::string& help,
                                   const std::string& env) {
  CLI::Option* const option = parser_->app.add_option(flag, value, help)->capture_default_str();
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, uint64_t>) {
    RefuseOddNumbers<T>(*option);
  }
  return parser_->Finish(option, env, [&value] { return nlohmann::ordered_json(value); });
}

namespace {

// Replaces a redacted value by that of the option's environment variable.
void FindSecret(const CLI::Option& option, Secret& value) {
  if (!value.IsRedacted()) return;
  const std::string& name = option.get_envname();
  const char* const text = name.empty() ? nullptr : std::getenv(name.c_str());
  const Secret there(text == nullptr ? "" : text, value.kind());
  if (there.Redacted() != value.Redacted() || there.IsRedacted()) {
    throw CLI::ValidationError(
        option.get_name(),
        fmt::format("{} is without its secret (***), which no file keeps: give the whole value on "
                    "the command line{}",
                    value.Redacted(), name.empty() ? "" : " or in the variable " + name));
  }
  value = there;
}

CLI::Option* AddSecrets(CLI::App& app, const std::string& flag, std::vector<Secret>& values,
                        const std::string& help) {
  const auto set = [&values](const std::vector<std::string>& texts) {
    values.assign(texts.begin(), texts.end());
  };
  return app.add_option_function<std::vector<std::string>>(flag, set, help);
}

}  // namespace

OptionSet::Declared OptionSet::Add(const std::string& flag, Secret& value, const std::string& help,
                                   const std::string& env) {
  const auto set = [&value](const std::string& text) { value = Secret(text, value.kind()); };
  CLI::Option* const option = parser_->app.add_option_function<std::string>(flag, set, help);
  option->default_str(value.Redacted());
  return parser_->Finish(
      option, env, [&value] { return nlohmann::ordered_json(value.Redacted()); },
      [option, &value] { FindSecret(*option, value); });
}

OptionSet::Declared OptionSet::Add(const std::string& flag, std::vector<Secret>& values,
                                   const std::string& help, const std::string& env) {
  CLI::Option* const option = AddSecrets(parser_->app, flag, values, help);
  return parser_->Finish(
      option, env, [&values] { return nlohmann::ordered_json(Redacted(values)); },
      [option, &values] {
        for (Secret& value : values) FindSecret(*option, value);
      });
}

OptionSet::Declared OptionSet::AddArguments(const std::string& flag, std::vector<Secret>& values,
                                            const std::string& help) {
  CLI::Option* const option = AddSecrets(parser_->app, flag, values, help);
  return parser_->Finish(option, "",
                         [&values] { return nlohmann::ordered_json(Redacted(values)); });
}

template OptionSet::Declared OptionSet::Add(const std::string&, int&, const std::string&,
                                            const std::string&);
template OptionSet::Declared OptionSet::Add(const std::string&, uint64_t&, const std::string&,
                                            const std::string&);
template OptionSet::Declared OptionSet::Add(const std::string&, double&, const std::string&,
                                            const std::string&);
template OptionSet::Declared OptionSet::Add(const std::string&, bool&, const std::string&,
                                            const std::string&);
template OptionSet::Declared OptionSet::Add(const std::string&, std::string&, const std::string&,
                                            const std::string&);
template OptionSet::Declared OptionSet::Add(const std::string&, std::vector<int>&,
                                            const std::string&, const std::string&);
template OptionSet::Declared OptionSet::Add(const std::string&, std::vector<std::string>&,
                                            const std::string&, const std::string&);

OptionSet::Declared OptionSet::AddNamed(const std::string& flag,
                                        const std::vector<std::string>& names,
                                        const std::string& value, const std::string& help,
                                        std::function<void(size_t)> set) {
  std::string& text = parser_->texts.emplace_back(value);
  parser_->setters.push_back([&text, names, set = std::move(set)] {
    set(static_cast<size_t>(std::ranges::find(names, text) - names.begin()));
  });
  return Add(flag, text, help).OneOf(names);
}

OptionSet::Declared OptionSet::AddSwitch(const std::string& flag, bool& value,
                                         const std::string& help) {
  return parser_->Finish(parser_->app.add_flag(flag, value, help), "",
                         [&value] { return nlohmann::ordered_json(value); });
}

void OptionSet::AddPositional(const std::string& name, std::vector<std::string>& values,
                              const std::string& help) {
  parser_->app.add_option(name, values, help)->required();
}

void OptionSet::AfterParsing(std::function<void()> settle) {
  parser_->setters.push_back(std::move(settle));
}

std::optional<ExitCode> OptionSet::Parse(int argc, const char* const* argv) {
  return parser_->Parse(argc, argv);
}

bool OptionSet::Given(const std::string& flag) const { return parser_->app.count(flag) > 0; }

std::string OptionSet::ResolvedToml() const { return ToToml(parser_->resolved); }

const nlohmann::ordered_json& OptionSet::ResolvedJson() const { return parser_->resolved; }

nlohmann::ordered_json OptionSet::Fingerprint() const { return parser_->Fingerprint(); }

std::string OptionDifferences(const nlohmann::ordered_json& there,
                              const nlohmann::ordered_json& now, const DifferenceWords& words) {
  if (!there.is_object() || !now.is_object()) return "";
  const auto text = [](const nlohmann::ordered_json& json, const std::string& key) {
    return json.contains(key) ? json.at(key).dump() : "nothing";
  };
  nlohmann::ordered_json keys = now;
  keys.update(there);
  std::string differences;
  for (const auto& [key, value] : keys.items()) {
    if (text(there, key) == text(now, key)) continue;
    differences +=
        fmt::format("{}{}{}{} {} {}, {} {}", differences.empty() ? "" : "; ", words.before, key,
                    words.behind, text(there, key), words.there, text(now, key), words.now);
  }
  return differences;
}

}  // namespace agentr
