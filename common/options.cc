#include "common/options.h"

#include <fmt/core.h>

#include <sstream>

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
  option_->check(CLI::Range(least, most));
  return *this;
}

OptionSet::Declared& OptionSet::Declared::OneOf(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

OptionSet::Declared& OptionSet::Declared::Hidden() {
  option_->group("")->configurable(false);
  return *this;
}

OptionSet::OptionSet(const std::string& program, const std::string& description,
                     const std::string& examples)
    : app_(description, program) {
  app_.set_help_flag("-h,--help", "Print this text");
  app_.set_version_flag("--version", std::string("agentr ") + std::string(kVersion));
  app_.set_config("--config", "", "Read options from a TOML file (the names of the flags are keys)");
  app_.get_config_ptr()->configurable(false);
  app_.allow_config_extras(CLI::config_extras_mode::error);
  if (!examples.empty()) app_.footer("\nExamples:\n" + examples);
  app_.get_formatter()->column_width(38);
}

OptionSet::Declared OptionSet::Finish(CLI::Option* option, const std::string& env) {
  option->group(group_);
  if (!env.empty()) option->envname(env);
  return Declared(option);
}

std::optional<ExitCode> OptionSet::Parse(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& done) {  // --help, --version
    app_.exit(done);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: {}\n{} --help lists the options\n", error.what(), app_.get_name());
    return ExitCode::kUsage;
  }
}

std::string OptionSet::ResolvedToml() const { return app_.config_to_str(true, false); }

nlohmann::ordered_json OptionSet::ResolvedJson() const {
  const auto typed = [](const std::string& text) {
    const auto value = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
    return value.is_number() || value.is_boolean() ? value : nlohmann::ordered_json(text);
  };
  auto json = nlohmann::ordered_json::object();
  for (const CLI::Option* option : app_.get_options()) {
    if (!option->get_configurable()) continue;
    nlohmann::ordered_json& value = json[option->get_single_name()];
    const bool is_switch = option->get_expected_max() == 0;
    if (is_switch) {
      value = option->count() > 0;
    } else if (option->count() == 0) {
      value = typed(option->get_default_str());
    } else if (option->get_expected_max() == 1) {
      value = typed(option->results().front());
    } else {
      value = option->results();
    }
  }
  return json;
}

}  // namespace agentr
