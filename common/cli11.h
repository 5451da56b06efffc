// What CLI11 needs from us: it reads our TOML, prints our form of help, and its errors become our
// messages. Only common/options.cc includes this.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "common/error.h"

namespace agentr {

// Lets --config read our TOML. CLI11's writer is not used (see common/toml.h).
class TomlConfig : public CLI::Config {
 public:
  // `former`: names of earlier releases and what they are called now, without dashes.
  explicit TomlConfig(const std::map<std::string, std::string>& former) : former_(former) {}

  std::string to_config(const CLI::App* /*app*/, bool /*default_also*/, bool /*write_description*/,
                        std::string /*prefix*/) const override {
    return "";
  }
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  const std::map<std::string, std::string>& former_;
};

// "--iterations INT [8] $ITERA": type or choices, default, environment variable.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

// Prints what is wrong with the command line or the configuration file, and returns the exit code.
ExitCode PrintParseError(const CLI::ParseError& error, const CLI::App& app);

}  // namespace agentr
