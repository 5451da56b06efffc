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
// An option determines the results of a run unless its declaration says otherwise: a run continues
// in a folder only with the fingerprint of those options that made what is there.
//
// A value on the command line wins over --config, --config over the environment, and the
// environment over the default.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/named_values.h"
#include "common/secret.h"

namespace CLI {
class Option;
}

namespace agentr {

class OptionSet {
  class Parser;  // keeps CLI11, which takes seconds to compile, out of this header

 public:
  // A declared option, to which constraints can be added: Add(…).Min(1), .OneOf({"a", "b"}).
  class Declared {
   public:
    Declared(CLI::Option* option, Parser* parser) : option_(option), parser_(parser) {}
    Declared& Min(double least);
    Declared& Range(double least, double most);
    Declared& OneOf(const std::vector<std::string>& values);
    // An empty text, most likely from an unset variable, is refused; leaving the option out is not.
    Declared& NotEmpty();
    // For texts that are taken as they are, "[INST]" too: elsewhere brackets around the value of a
    // repeatable flag make it a list. Each value then needs a flag of its own.
    Declared& Verbatim();
    // Must be given again for each run: no file may contain it, and resolved.toml leaves it out.
    Declared& OnlyOnCommandLine();
    // Decides how fast and from where results come; they are the same, up to rounding.
    Declared& OnlySpeed();
    // Decides which results are made, or what every run makes anew of those that are kept.
    Declared& OnlyOutput();
    // `flag` was its name in an earlier release. It still works but is not listed in --help.
    Declared& Formerly(const std::string& flag);

   private:
    CLI::Option* option_;
    Parser* parser_;
  };

  // `description` is the first paragraph of --help, `examples` the last.
  OptionSet(const std::string& program, const std::string& description,
            const std::string& examples = "");
  ~OptionSet();

  // Sets the heading in --help for the options declared after it.
  void Group(const std::string& name);

  // A flag with a value. `env`: an environment variable. T: int, uint64_t, double, bool,
  // std::string; repeatable with a std::vector of int or std::string.
  template <typename T>
  Declared Add(const std::string& flag, T& value, const std::string& help,
               const std::string& env = "");

  // The same for values that may contain secrets, which --help and resolved.toml have redacted.
  // Where --config reads such a text back, the environment variable takes its place if it holds the
  // same text with the secret; otherwise Parse says what is missing.
  Declared Add(const std::string& flag, Secret& value, const std::string& help,
               const std::string& env = "");
  Declared Add(const std::string& flag, std::vector<Secret>& values, const std::string& help,
               const std::string& env = "");

  // A repeatable flag for arguments of another program, which may contain secrets. That program
  // deals with redacted ones.
  Declared AddArguments(const std::string& flag, std::vector<Secret>& values,
                        const std::string& help);

  // A flag whose value is one of these names, and sets `value` to what is named so.
  template <typename E, size_t n>
  Declared AddNamed(const std::string& flag, E& value, const std::array<NamedValue<E>, n>& names,
                    const std::string& help) {
    std::vector<std::string> texts;
    for (const auto& [name, named] : names) texts.emplace_back(name);
    return AddNamed(flag, texts, std::string(NameOf(names, value)), help,
                    [&value, names](size_t chosen) { value = names[chosen].second; });
  }

  // A switch without a value.
  Declared AddSwitch(const std::string& flag, bool& value, const std::string& help);

  // Values without a flag: `tree_show FILE`.
  void AddPositional(const std::string& name, std::vector<std::string>& values,
                     const std::string& help);

  // `settle` is called when the structs are filled: for a field that follows from several options,
  // and to check them. Parse throws what it throws.
  void AfterParsing(std::function<void()> settle);

  // Fills the structs. For --help, --version or a bad flag it prints the text and returns the exit
  // code with which the program should end.
  std::optional<ExitCode> Parse(int argc, const char* const* argv);

  // True if the option was given on the command line, in the config file or in the environment.
  bool Given(const std::string& flag) const;

  // Every option with its value as parsed (a program may change its struct later), as a TOML file
  // that --config reads back.
  std::string ResolvedToml() const;

  // The same as a JSON object, flag names without dashes as keys.
  const nlohmann::ordered_json& ResolvedJson() const;

  // The same for the options that determine the results; without Parse, with the values of the
  // structs (common/fingerprint.h).
  nlohmann::ordered_json Fingerprint() const;

 private:
  Declared AddNamed(const std::string& flag, const std::vector<std::string>& names,
                    const std::string& value, const std::string& help,
                    std::function<void(size_t)> set);

  std::unique_ptr<Parser> parser_;
};

// What OptionDifferences calls the two sides, and writes before and behind an option's name.
struct DifferenceWords {
  std::string_view there = "there";
  std::string_view now = "now";
  std::string_view before = "--";
  std::string_view behind = "";
};

// The differences between two results of ResolvedJson or Fingerprint, as flags in the order of
// `now`: "--iterations 4 there, 8 now; --seed 1 there, 0 now". Empty if there are none, or if
// either is not an object.
std::string OptionDifferences(const nlohmann::ordered_json& there,
                              const nlohmann::ordered_json& now, const DifferenceWords& words = {});

}  // namespace agentr
