#include "training/distributed/launcher.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/interrupt.h"

namespace agentr {
namespace {

[[noreturn]] void CannotStart(const std::string& what) {
  throw FatalError(
      ExitCode::kUnavailable,
      fmt::format("cannot start the processes of --processes: {}: {}", what, std::strerror(errno)));
}

// A port that nobody uses now. Another program may take it before rank 0 does; then rank 0 says so.
int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || ::bind(fd, any, size) != 0 || ::getsockname(fd, any, &size) != 0) {
    CannotStart("no port of this machine is free");
  }
  ::close(fd);
  return ntohs(address.sin_port);
}

// Texts as execve takes them.
class CStrings {
 public:
  explicit CStrings(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

CStrings OwnArguments() {
  const std::string bytes = ReadFile("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (size_t at = 0; at < bytes.size(); at += arguments.back().size() + 1) {
    arguments.emplace_back(bytes.c_str() + at);
  }
  return CStrings(std::move(arguments));
}

CStrings EnvironmentWith(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return CStrings(std::move(all));
}

pid_t Start(const CStrings& arguments, const CStrings& environment) {
  const pid_t starter = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) CannotStart("fork");
  if (pid > 0) return pid;
  // A copy of its own group hears Ctrl-C only once: from its starter, with whom it ends.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != starter) ::_exit(1);
  ::execve("/proc/self/exe", arguments.get(), environment.get());
  ::_exit(127);
}

// The copies by process, and how the job ends.
class Job {
 public:
  explicit Job(int count) {
    const CStrings arguments = OwnArguments();
    const std::string port = std::to_string(FreePort()), size = std::to_string(count);
    for (int rank = 0; rank < count; ++rank) {
      const std::string number = std::to_string(rank);
      ranks_[Start(arguments, EnvironmentWith({{"RANK", number},
                                               {"LOCAL_RANK", number},
                                               {"WORLD_SIZE", size},
                                               {"LOCAL_WORLD_SIZE", size},
                                               {"MASTER_ADDR", "127.0.0.1"},
                                               {"MASTER_PORT", port},
                                               {"TORCHELASTIC_USE_AGENT_STORE", "False"}}))] = rank;
    }
  }
  ~Job() { SignalAll(SIGKILL); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  ExitCode Wait() {
    const std::atomic<bool>& stop = StopOnSignal();
    bool told = false;
    while (!ranks_.empty()) {
      if (stop && !told) SignalAll(SIGTERM);
      told = told || stop;
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid > 0) {
        Ended(pid, status);
      } else {
        ::usleep(10'000);
      }
    }
    return code_;
  }

 private:
  void SignalAll(int signal) const {
    for (const auto& [pid, rank] : ranks_) ::kill(pid, signal);
  }

  void Ended(pid_t pid, int status) {
    const auto found = ranks_.find(pid);
    if (found == ranks_.end()) return;
    const int rank = found->second;
    ranks_.erase(found);
    const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (exit == 0 || failed_) return;
    if (exit == static_cast<int>(ExitCode::kInterrupted)) {  // all of them end so
      code_ = ExitCode::kInterrupted;
      return;
    }
    failed_ = true;
    code_ = exit < 0 ? ExitCode::kIncomplete : static_cast<ExitCode>(exit);
    const std::string how =
        exit < 0 ? fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                               ::strsignal(WTERMSIG(status)))
                 : fmt::format("ended with exit code {}; its message stands above", exit);
    spdlog::error(
        "rank {} (process {}) {}: the job ends, and the other processes are killed. The "
        "same command goes on from the last checkpoint",
        rank, pid, how);
    SignalAll(SIGKILL);
  }

  std::map<pid_t, int> ranks_;  // of the copies that run
  bool failed_ = false;
  ExitCode code_ = ExitCode::kOk;
};

}  // namespace

ExitCode RunProcesses(int count) { return Job(count).Wait(); }

}  // namespace agentr
