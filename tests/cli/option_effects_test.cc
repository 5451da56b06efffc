// What each option of each program decides: whether it determines the results, only their speed, or
// only the output. A new option belongs into this list; think about which of the three it is, because
// a program goes on with what it finds in a folder if the options that determine it are the same.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/cli/program.h"

namespace agentr {
namespace {

constexpr const char* kEffects = R"(
@@)";

// The programs with a main function, without the command that starts the others.
std::set<std::string> Programs() {
  std::set<std::string> programs;
  for (const auto& entry : std::filesystem::directory_iterator(AGENTR_APPS_DIR)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kEnd = "_main.cc";
    if (name.ends_with(kEnd)) programs.insert(name.substr(0, name.size() - kEnd.size()));
  }
  programs.erase("agentr");
  return programs;
}

TEST(OptionEffectsTest, EveryOptionIsListedWithWhatItDecides) {
  const ScratchFolder folder;
  std::map<std::string, std::string> programs_of;  // "speed --threads" -> " env_server"
  for (const std::string& program : Programs()) {
    const Outcome outcome = RunProgram(program, {"--help_as=effects"}, folder.path());
    ASSERT_EQ(outcome.exit, 0) << program << outcome.err;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) programs_of[line] += " " + program;
  }
  std::map<std::string, std::string> groups;  // "speed, env_server:" -> its options
  for (const auto& [option, programs] : programs_of) {
    const size_t space = option.find(' ');
    std::string& group = groups[option.substr(0, space) + "," + programs + ":"];
    const size_t line = group.size() - (group.rfind('\n') + 1);
    const std::string flag = option.substr(space + 1);
    group += (line + flag.size() > 96 || group.empty() ? "\n  " : " ") + flag;
  }
  std::string text = "\n";
  for (const auto& [heading, options] : groups) text += heading + options + "\n";
  EXPECT_EQ(text, kEffects);
}

}  // namespace
}  // namespace agentr
