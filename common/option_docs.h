// The options of a program as documents for its installation: a man page and completions of shells.
// Every program prints them with the hidden flag --help_as=man|bash|zsh, from the same declarations
// as its --help, so they cannot say anything else.
#pragma once

#include <string>
#include <vector>

namespace agentr {

struct OptionDoc {
  std::string group;    // heading in --help
  std::string flags;    // "--iterations", or "-h,--help"
  std::string type;     // "INT"; empty for a switch
  std::string initial;  // the default as text; may be empty
  std::string env;      // environment variable; may be empty
  std::string help;
  std::vector<std::string> choices;  // the allowed values, where there is a list of them
  bool repeatable = false;
  bool positional = false;
};

struct ProgramDoc {
  std::string name;
  std::string description;  // its first line says what the program does
  std::string examples;     // a command per line, with "\" at line ends; may be empty
  std::string version;
  std::vector<OptionDoc> options;
};

// A manual page of section 1 in the language of man(7).
std::string ManPage(const ProgramDoc& program);

// Completes flags, the listed values, and file names after all others. Bash: for the folder
// bash-completion/completions; zsh: a file "_NAME" for its function path.
std::string BashCompletion(const ProgramDoc& program);
std::string ZshCompletion(const ProgramDoc& program);

}  // namespace agentr
