// Runs the project's programs as a user would: as processes, in folders of their own.
#pragma once

#include <gmock/gmock.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/common/scratch_folder.h"

namespace agentr {

using Arguments = std::vector<std::string>;

// The words of a command line: Words("--task textcraft --max 3").
Arguments Words(std::string_view line);

Arguments operator+(Arguments left, const Arguments& right);

struct Outcome {
  int exit = -1;  // 128 + signal where a signal ended it
  std::string out;
  std::string err;
};

// All of it, where an expectation fails.
inline void PrintTo(const Outcome& outcome, std::ostream* to) {
  *to << "exit " << outcome.exit << "\n" << outcome.out << outcome.err;
}

// Match programs that ended with `exit`; Says looks at stdout too, and Fails at stderr.
inline ::testing::Matcher<const Outcome&> Exits(int exit) {
  return ::testing::Field("exit", &Outcome::exit, exit);
}
template <typename Said>
::testing::Matcher<const Outcome&> Says(int exit, const Said& out) {
  return ::testing::AllOf(Exits(exit), ::testing::Field("out", &Outcome::out, out));
}
template <typename Said>
::testing::Matcher<const Outcome&> Fails(int exit, const Said& err) {
  return ::testing::AllOf(Exits(exit), ::testing::Field("err", &Outcome::err, err));
}

// One running process of bin/NAME, in `folder`, with the environment of the test plus `env`; its
// output goes to files in the folder. Killed by the destructor if it still runs.
class Program {
 public:
  Program(const std::string& name, const Arguments& arguments, const std::filesystem::path& folder,
          const std::map<std::string, std::string>& env = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool Running();
  void Signal(int signal);
  Outcome Wait();

  // Waits until `condition` holds or the program has ended.
  void WaitUntil(const std::function<bool()>& condition);

  // The address of a server without a path, "http://127.0.0.1:8000": waits until it is on stdout.
  // Throws std::runtime_error if the program ends before.
  std::string WaitForUrl();

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

// To the end.
Outcome RunProgram(const std::string& name, const Arguments& arguments,
                   const std::filesystem::path& folder,
                   const std::map<std::string, std::string>& env = {});

// Runs the program and kills it, until that was done `times` times: once `progress` has grown, and
// every other time up to `most_ms` later. If it ends before, which it must do well, `result` is
// removed for it to begin anew.
void KillAgainAndAgain(const std::string& name, const Arguments& arguments,
                       const std::filesystem::path& folder, uint64_t times, uint64_t most_ms,
                       const std::function<size_t()>& progress,
                       const std::filesystem::path& result);

// Name -> content of the tree files in a folder and its subfolders.
std::map<std::string, std::string> TreeFiles(const std::filesystem::path& folder);

// Names of temporary files (".….tmp") in a folder and its subfolders.
std::vector<std::string> TemporaryFiles(const std::filesystem::path& folder);

// Of a file of JSON lines.
std::vector<nlohmann::json> ReadRows(const std::filesystem::path& path);

}  // namespace agentr
