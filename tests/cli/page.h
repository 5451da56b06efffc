// The commands of a page for users, run as they stand there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/program.h"

namespace agentr {

// A page of the project, by its path in it.
std::string ReadPage(std::string_view path);

// The lines that begin with four spaces and "$ ", without these. A line that ends with a backslash
// is continued by the next one.
std::vector<std::string> CommandsOf(std::string_view page);

// Runs the commands in one shell that ends at the first failure, in `folder`, with the programs on
// the PATH and links to the project's folders that pages name. A command that ends with & is a
// server at `port` of this machine: the next command waits for it, and it is ended with the shell.
Outcome RunCommands(const std::vector<std::string>& commands, const std::filesystem::path& folder,
                    int port = 0);

}  // namespace agentr
