// Runs the project's programs as a user would: as processes, in folders of their own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/common/scratch_folder.h"

namespace agentr {

struct Outcome {
  int exit = -1;  // 128 + signal where a signal ended it
  std::string out;
  std::string err;
};

// One running process of bin/NAME, in `folder`, with the environment of the test plus `env`; its
// output goes to files in the folder. Killed by the destructor if it still runs.
class Program {
 public:
  Program(const std::string& name, const std::vector<std::string>& arguments,
          const std::filesystem::path& folder, const std::map<std::string, std::string>& env = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool Running();
  void Signal(int signal);
  Outcome Wait();

  // The first line on stdout that contains `text`; waits for it, "" once the program has ended.
  std::string WaitForLine(const std::string& text);

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

// To the end.
Outcome RunProgram(const std::string& name, const std::vector<std::string>& arguments,
                   const std::filesystem::path& folder,
                   const std::map<std::string, std::string>& env = {});

// Name -> content of the tree files in a folder and its subfolders.
std::map<std::string, std::string> TreeFiles(const std::filesystem::path& folder);

// Names of temporary files (".….tmp") in a folder and its subfolders.
std::vector<std::string> TemporaryFiles(const std::filesystem::path& folder);

// Of a file of JSON lines.
std::vector<nlohmann::json> ReadRows(const std::filesystem::path& path);

}  // namespace agentr
