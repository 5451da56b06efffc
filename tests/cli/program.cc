#include "tests/cli/program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "common/file.h"
#include "common/random.h"
#include "common/text.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// In the child: everything that the exec'ed program starts with.
[[noreturn]] void Become(const fs::path& binary, const Arguments& arguments, const fs::path& folder,
                         const std::map<std::string, std::string>& env, const fs::path& out,
                         const fs::path& err) {
  const int out_fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int err_fd = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ::dup2(out_fd, STDOUT_FILENO);
  ::dup2(err_fd, STDERR_FILENO);
  for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(binary.c_str()));
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(binary.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace

Arguments Words(std::string_view line) {
  const std::vector<std::string_view> words = SplitWords(line);
  return {words.begin(), words.end()};
}

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Program::Program(const std::string& name, const Arguments& arguments, const fs::path& folder,
                 const std::map<std::string, std::string>& env)
    : out_(folder / (name + ".stdout")), err_(folder / (name + ".stderr")) {
  const fs::path binary = fs::path(AGENTR_BIN_DIR) / name;
  fs::remove(out_);  // of an earlier process of that name: its lines are not this one's
  fs::remove(err_);
  // Here and not only in the child, which may be killed before it opens them.
  std::ofstream{out_};
  std::ofstream{err_};
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) Become(binary, arguments, folder, env, out_, err_);
}

Program::~Program() {
  if (!Running()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, &status_, 0);
}

bool Program::Running() {
  if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return !ended_;
}

void Program::Signal(int signal) {
  if (Running()) ::kill(pid_, signal);
}

Outcome Program::Wait() {
  if (!ended_) ::waitpid(pid_, &status_, 0);
  ended_ = true;
  const int exit = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {exit, ReadFile(out_), ReadFile(err_)};
}

void Program::WaitUntil(const std::function<bool()>& condition) {
  while (Running() && !condition()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

std::string Program::WaitForUrl() {
  constexpr std::string_view kBegin = "http://";
  while (true) {
    const bool running = Running();
    std::istringstream lines(ReadFile(out_));
    for (std::string line; std::getline(lines, line);) {
      const size_t at = line.find(kBegin);
      if (lines.eof() || at == std::string::npos) continue;
      return line.substr(at, line.find_first_of(" /", at + kBegin.size()) - at);
    }
    if (!running) throw std::runtime_error("the server has ended: " + ReadFile(err_));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Outcome RunProgram(const std::string& name, const Arguments& arguments, const fs::path& folder,
                   const std::map<std::string, std::string>& env) {
  return Program(name, arguments, folder, env).Wait();
}

void KillAgainAndAgain(const std::string& name, const Arguments& arguments, const fs::path& folder,
                       uint64_t times, uint64_t most_ms, const std::function<size_t()>& progress,
                       const fs::path& result) {
  RandomStream stream(3);
  for (uint64_t kills = 0; kills < times;) {
    Program program(name, arguments, folder);
    const size_t before = progress();
    program.WaitUntil([&] { return progress() > before; });
    std::this_thread::sleep_for(std::chrono::milliseconds(kills % 2 * stream.Below(most_ms)));
    program.Signal(SIGKILL);
    const Outcome outcome = program.Wait();
    if (outcome.exit == 128 + SIGKILL) {
      ++kills;
    } else {
      ASSERT_THAT(outcome, Exits(0));
      fs::remove_all(result);
    }
  }
}

std::map<std::string, std::string> TreeFiles(const fs::path& folder) {
  std::map<std::string, std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("search_results_") && name.ends_with(".json")) {
      files[name] = ReadFile(entry.path());
    }
  }
  return files;
}

std::vector<std::string> TemporaryFiles(const fs::path& folder) {
  std::vector<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".tmp") names.push_back(entry.path().string());
  }
  return names;
}

std::vector<nlohmann::json> ReadRows(const std::filesystem::path& path) {
  std::vector<nlohmann::json> rows;
  std::istringstream in(ReadFile(path));
  for (std::string line; std::getline(in, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

}  // namespace agentr
