#include "common/option_docs.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/text.h"

namespace agentr {
namespace {

// Text that man shows as it is: "\" and "-" have meanings, and so has a "." or "'" that begins a
// line.
std::string Roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

// What a program or an option does: the first sentence, or its part before a colon.
std::string Gist(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  const size_t end = std::min(text.find(". "), text.find(": "));
  text = text.substr(0, end);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// "-h,--help" -> {"-h", "--help"}.
std::string ValueName(const OptionDoc& option) {
  return option.choices.empty() ? option.type : fmt::format("{}", fmt::join(option.choices, "|"));
}

std::string ManOption(const OptionDoc& option) {
  std::string out = ".TP\n\\fB" + Roff(option.flags) + "\\fR";
  if (!option.type.empty() && !option.positional) out += " \\fI" + Roff(ValueName(option)) + "\\fR";
  out += "\n" + Roff(option.help);
  if (!option.help.ends_with('.')) out += ".";
  if (!option.type.empty() && !option.initial.empty() && option.initial != "[]") {
    out += fmt::format("\nDefault: {}.", Roff(option.initial));
  }
  if (option.repeatable) out += "\nMay be given several times.";
  if (!option.env.empty()) out += fmt::format("\nEnvironment variable: {}.", Roff(option.env));
  return out + "\n";
}

// Text within single quotes of a shell.
std::string Quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out;
}

// Text within a description of zsh's _arguments, where ":", "[" and "]" have meanings.
std::string ZshText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return Quoted(out);
}

}  // namespace

std::string ManPage(const ProgramDoc& program) {
  std::string upper = program.name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string positional;
  for (const OptionDoc& option : program.options) {
    if (option.positional) positional += " \\fI" + Roff(option.flags) + "\\fR...";
  }
  std::string page = fmt::format(
      ".TH {} 1 \"\" \"agentr {}\" \"agentr\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n"
      "[\\fIOPTIONS\\fR]{}\n.SH DESCRIPTION\n{}\n",
      upper, Roff(program.version), Roff(program.name), Roff(Gist(program.description)),
      Roff(program.name), positional, Roff(program.description));
  std::string group;
  for (const OptionDoc& option : program.options) {
    if (option.group != group) {
      std::string heading = group = option.group;
      std::ranges::transform(heading, heading.begin(),
                             [](unsigned char c) { return std::toupper(c); });
      page += fmt::format(".SH \"{}\"\n", Roff(heading));
    }
    page += ManOption(option);
  }
  if (!program.examples.empty()) {
    page += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", Roff(program.examples));
  }
  return page +
         ".SH \"EXIT STATUS\"\n0: all done. 1: some tasks failed; run again. 2: a bad option. "
         "3: a file or folder cannot be read or written. 4: a server does not answer. "
         "130: interrupted; run again to continue.\n";
}

std::string BashCompletion(const ProgramDoc& program) {
  std::string flags, cases;
  for (const OptionDoc& option : program.options) {
    if (option.positional) continue;
    const std::vector<std::string_view> names = SplitText(option.flags, ',');
    flags += fmt::format("{}{}", flags.empty() ? "" : " ", fmt::join(names, " "));
    if (option.choices.empty()) continue;
    cases += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                         fmt::join(names, "|"),
                         Quoted(fmt::format("{}", fmt::join(option.choices, " "))));
  }
  return fmt::format(
      "# Completion of {0} for bash.\n"
      "_agentr_{0}() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  case $prev in\n{1}  esac\n"
      "  if [[ $cur == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W '{2}' -- \"$cur\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _agentr_{0} {0}\n",
      program.name, cases.empty() ? "    *) ;;\n" : cases, Quoted(flags));
}

std::string ZshCompletion(const ProgramDoc& program) {
  std::string specs;
  for (const OptionDoc& option : program.options) {
    if (option.positional) continue;
    for (const std::string_view flag : SplitText(option.flags, ',')) {
      specs += fmt::format("  '{}{}[{}]", option.repeatable ? "*" : "", flag, ZshText(option.help));
      if (!option.choices.empty()) {
        specs +=
            fmt::format(":value:({})", Quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      } else if (!option.type.empty()) {
        specs += fmt::format(":{}:_files", ZshText(option.type));
      }
      specs += "' \\\n";
    }
  }
  return fmt::format("#compdef {0}\n_arguments \\\n{1}  '*:file:_files'\n", program.name, specs);
}

}  // namespace agentr
