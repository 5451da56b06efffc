#include "common/options.h"

#include <fmt/core.h>

#include <cstdlib>
#include <iterator>
#include <memory>

#include "common/toml.h"
#include "common/version.h"

namespace agentr {
namespace {

// Lets --config read our TOML. CLI11's writer is not used (see common/toml.h).
class TomlConfig : public CLI::Config {
 public:
  std::string to_config(const CLI::App* /*app*/, bool /*default_also*/, bool /*write_description*/,
                        std::string /*prefix*/) const override {
    return "";
  }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    const std::string text(std::istreambuf_iterator<char>(input), {});
    std::vector<CLI::ConfigItem> config;
    for (TomlItem& toml : ParseToml(text)) {
      CLI::ConfigItem& item = config.emplace_back();
      item.name = std::move(toml.key);
      item.inputs = std::move(toml.values);
    }
    return config;
  }
};

// "--iterations INT [8] $ITERA": type or choices, default, environment variable.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string out;
    if (option->get_type_size() != 0) {
      // The name of the type goes on with the checks: "INT:>= 1", "TEXT:{a,b}".
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
};

}  // namespace

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
  app_.config_formatter(std::make_shared<TomlConfig>());
  app_.allow_config_extras(CLI::config_extras_mode::error);
  if (!examples.empty()) app_.footer("\nExamples:\n" + examples);
  app_.formatter(std::make_shared<HelpFormatter>());
  app_.get_formatter()->column_width(38);
}

namespace {

// From 2.2 on CLI11 silently leaves out a variable whose value does not suit its option.
void RefuseIgnoredVariable(const CLI::Option& option) {
  if (option.get_envname().empty() || option.count() > 0) return;
  const char* value = std::getenv(option.get_envname().c_str());
  if (value == nullptr || *value == '\0') return;
  throw CLI::ValidationError(
      option.get_name(), fmt::format("the environment variable {} is '{}', which does not suit it",
                                     option.get_envname(), value));
}

}  // namespace

std::optional<ExitCode> OptionSet::Parse(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
    for (const Entry& entry : entries_) {
      RefuseIgnoredVariable(*entry.option);
      if (entry.option->get_configurable()) {
        resolved_[entry.option->get_single_name()] = entry.value();
      }
    }
    return std::nullopt;
  } catch (const CLI::Success& done) {  // --help, --version
    app_.exit(done);
    return ExitCode::kOk;
  } catch (const FatalError& error) {  // of the config file
    fmt::print(stderr, "error: --config {}: {}\n", app_.get_config_ptr()->as<std::string>(),
               error.what());
    return error.code();
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: {}\n{} --help lists the options\n", error.what(), app_.get_name());
    return ExitCode::kUsage;
  }
}

std::string OptionSet::ResolvedToml() const { return ToToml(resolved_); }

}  // namespace agentr
