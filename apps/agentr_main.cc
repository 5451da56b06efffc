// agentr: the programs as sub-commands of one command.
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/nearest_name.h"
#include "common/text.h"
#include "common/version.h"

namespace agentr {
namespace {

struct SubCommand {
  const char* name;
  const char* program;
  const char* help;
};

constexpr std::array<SubCommand, 14> kSubCommands = {{
    {"collect", "mcts_collect", "search trees of tasks"},
    {"revise", "path_collect", "make training rows from trees"},
    {"train", "agent_train", "fine-tune a model on rows"},
    {"eval", "agent_eval", "play test tasks and measure"},
    {"loop", "self_train", "search, revise, train, evaluate, and repeat"},
    {"rl", "agent_rl", "train a model by reward"},
    {"report", "agent_report", "show results as an HTML page"},
    {"status", "store_status", "show the progress of runs in a database"},
    {"show", "tree_show", "show a search tree on the terminal"},
    {"demos", "make_demos", "write demonstrations for a model without training"},
    {"convert", "model_convert", "write a model as a GGUF file or a folder"},
    {"env-check", "env_check", "try an environment server and its task file"},
    {"env-server", "env_server", "serve an environment"},
    {"lm-server", "lm_server", "serve a language model"},
}};

std::string Help() {
  std::string text =
      "Usage: agentr COMMAND [OPTIONS]\n\nCommands, each also a program of its own name:\n";
  for (const SubCommand& command : kSubCommands) {
    text += fmt::format("  {:<12}{:<14}{}\n", command.name, command.program, command.help);
  }
  return text + "\nagentr COMMAND --help lists the options of a command.\n";
}

std::string ManPage() {
  std::string page = fmt::format(
      ".TH AGENTR 1 \"\" \"agentr {}\" \"agentr\"\n.SH NAME\nagentr \\- self-reflection data and "
      "training for language-model agents\n.SH SYNOPSIS\n.B agentr\n\\fICOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n.SH COMMANDS\n",
      kVersion);
  for (const SubCommand& command : kSubCommands) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}; see {}(1).\n", command.name, command.help,
                        command.program);
  }
  return page;
}

// Completes the sub-command, and hands the rest to the completion of its program.
std::string BashCompletion() {
  std::string names, cases;
  for (const SubCommand& command : kSubCommands) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", command.name);
    cases += fmt::format("    {}) program={} ;;\n", command.name, command.program);
  }
  return fmt::format(
      "# Completion of agentr for bash.\n"
      "_agentr() {{\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"${{COMP_WORDS[1]}}\"))\n"
      "    return\n"
      "  fi\n"
      "  local program=\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  [[ $program ]] || return\n"
      "  declare -F \"_agentr_$program\" >/dev/null || _completion_loader \"$program\"\n"
      "  \"_agentr_$program\"\n"
      "}}\n"
      "complete -o filenames -F _agentr agentr\n",
      names, cases);
}

std::string ZshCompletion() {
  std::string names, cases;
  for (const SubCommand& command : kSubCommands) {
    names += fmt::format(" '{}:{}'", command.name, command.help);
    cases += fmt::format("  {}) _{} ;;\n", command.name, command.program);
  }
  return fmt::format(
      "#compdef agentr\nlocal -a commands=({} )\n"
      "if ((CURRENT == 2)); then _describe command commands; return; fi\n"
      "local command=$words[2]\nshift words\n((CURRENT--))\ncase $command in\n{}esac\n",
      names, cases);
}

// Becomes the program of the sub-command, which lies beside this one.
ExitCode Become(const SubCommand& command, int argc, char** argv) {
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename(command.program);
  std::string name = command.program;
  std::vector<char*> arguments = {name.data()};
  for (int i = 2; i < argc; ++i) arguments.push_back(argv[i]);
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw FatalError(ExitCode::kFile,
                   fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

ExitCode Run(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const SubCommand& command : kSubCommands) {
    if (word == command.name || word == command.program) return Become(command, argc, argv);
  }
  if (word == "--help_as=man") {
    fmt::print("{}", ManPage());
  } else if (word == "--help_as=bash") {
    fmt::print("{}", BashCompletion());
  } else if (word == "--help_as=zsh") {
    fmt::print("{}", ZshCompletion());
  } else if (word == "--version") {
    fmt::print("agentr {}\n", kVersion);
  } else if (word.empty() || word == "--help" || word == "-h" || word == "help") {
    fmt::print("{}", Help());
  } else {
    std::vector<std::string> names;
    for (const SubCommand& command : kSubCommands) {
      names.emplace_back(command.name);
      names.emplace_back(command.program);
    }
    throw FatalError(ExitCode::kUsage,
                     fmt::format("there is no command '{}'{}; agentr --help lists the commands",
                                 EscapeControls(word), DidYouMean(word, names)));
  }
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Run(argc, argv); });
}
