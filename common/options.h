// Options of a program, declared once: a field with its default in the component's struct, and one
// Add() that names its flag, help and environment variable. From this come the command line,
// --help, `--config FILE.toml`, the environment, and the resolved.toml that a run saves.
//
//   struct SearchOptions { int iterations = 8; … };
//   void Declare(OptionSet& set, SearchOptions& o) {
//     set.Group("Search");
//     set.Add("--iterations", o.iterations, "Iterations per tree", "ITERA").Min(1);
//   }
//
// Where a value is given twice: command line, then --config, then environment, then default.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"

namespace agentr {

class OptionSet {
 public:
  // One declared option, for constraints: Add(…).Min(1), .OneOf({"a", "b"}).
  class Declared {
   public:
    explicit Declared(CLI::Option* option) : option_(option) {}
    Declared& Min(double least);
    Declared& Range(double least, double most);
    Declared& OneOf(const std::vector<std::string>& values);
    Declared& Hidden();  // neither in --help nor in resolved.toml
   private:
    CLI::Option* option_;
  };

  // `description` is the first paragraph of --help, `examples` the last.
  OptionSet(const std::string& program, const std::string& description,
            const std::string& examples = "");

  // Heading in --help for what is declared next.
  void Group(const std::string& name) { group_ = name; }

  // A flag with a value (repeatable where `value` is a vector). `env`: an environment variable.
  template <typename T>
  Declared Add(const std::string& flag, T& value, const std::string& help,
               const std::string& env = "") {
    return Finish(app_.add_option(flag, value, help)->capture_default_str(), env, value);
  }

  // A switch without a value.
  Declared AddSwitch(const std::string& flag, bool& value, const std::string& help) {
    return Finish(app_.add_flag(flag, value, help), "", value);
  }

  // A value without a flag: `tree_show FILE`.
  template <typename T>
  void AddPositional(const std::string& name, T& value, const std::string& help) {
    app_.add_option(name, value, help)->required();
  }

  // Fills the structs. When the program has nothing more to do (--help, --version, a bad flag) the
  // text has been printed and the exit code is returned.
  std::optional<ExitCode> Parse(int argc, const char* const* argv);

  // True if the option was given on the command line, in the config file or in the environment.
  bool Given(const std::string& flag) const { return app_.count(flag) > 0; }

  // Every option with its value as parsed (a program may change its struct later), as a TOML file
  // that --config reads back.
  std::string ResolvedToml() const;

  // The same as a JSON object, flag names without dashes as keys.
  const nlohmann::ordered_json& ResolvedJson() const { return resolved_; }

 private:
  struct Entry {
    const CLI::Option* option;
    std::function<nlohmann::ordered_json()> value;
  };

  template <typename T>
  Declared Finish(CLI::Option* option, const std::string& env, const T& value) {
    option->group(group_);
    if (!env.empty()) option->envname(env);
    entries_.push_back({option, [&value] { return nlohmann::ordered_json(value); }});
    return Declared(option);
  }

  CLI::App app_;
  std::vector<Entry> entries_;
  nlohmann::ordered_json resolved_ = nlohmann::ordered_json::object();
  std::string group_ = "Options";
};

}  // namespace agentr
