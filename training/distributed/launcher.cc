#include "training/distributed/launcher.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "common/interrupt.h"
#include "training/distributed/rendezvous.h"

namespace agentr {
namespace {

[[noreturn]] void CannotStart(const std::string& what) {
  throw FatalError(
      ExitCode::kUnavailable,
      fmt::format("cannot start the processes of --processes: {}: {}", what, std::strerror(errno)));
}

// A port that is free now. If another program takes it before rank 0 does, rank 0 reports it.
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

// Texts in the form that execve requires.
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
  // Each copy has its own process group, so it gets Ctrl-C only once, from its launcher; it also
  // ends with its launcher.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != starter) ::_exit(1);
  ::execve("/proc/self/exe", arguments.get(), environment.get());
  ::_exit(127);
}

// The copies by process id, and the end of the job.
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
                                               {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                                               {kWatchedVariable, "1"}}))] = rank;
    }
  }
  ~Job() { SignalAll(SIGKILL); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  ExitCode Wait() {
    const std::atomic<bool>& stop = StopOnSignal();
    bool told = false;
    int rounds_left = kRoundsForOthers;
    while (!ranks_.empty()) {
      if (stop && !told) SignalAll(SIGTERM);
      told = told || stop;
      int status = 0;
      while (const pid_t pid = ::waitpid(-1, &status, WNOHANG)) {
        if (pid < 0) break;
        Ended(pid, status);
      }
      if (worst_ && rounds_left-- == 0) SignalAll(SIGKILL);
      ::usleep(kRoundUs);
    }
    if (worst_) Say(*worst_);
    return code_;
  }

 private:
  static constexpr int kRoundUs = 10'000;
  // A process that fails because it lost another one may be noticed before that one.
  static constexpr int kRoundsForOthers = 20;

  struct End {
    int rank = 0;
    pid_t pid = 0;
    int signal = 0;  // the signal that ended it; 0 if none
    int exit = 0;
    // The higher the value, the more likely this failure caused the others.
    int weight() const {
      return signal != 0 ? 2 : exit != static_cast<int>(ExitCode::kIncomplete) ? 1 : 0;
    }
  };

  void SignalAll(int signal) {
    for (const auto& [pid, rank] : ranks_) ::kill(pid, signal);
    killed_ = killed_ || signal == SIGKILL;
  }

  void Ended(pid_t pid, int status) {
    const auto found = ranks_.find(pid);
    if (found == ranks_.end()) return;
    const End end = {found->second, pid, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                     WIFEXITED(status) ? WEXITSTATUS(status) : 0};
    ranks_.erase(found);
    if (killed_ || (end.signal == 0 && end.exit == 0)) return;
    if (end.exit == static_cast<int>(ExitCode::kInterrupted)) {  // normal end of all copies after a
                                                                 // signal
      if (!worst_) code_ = ExitCode::kInterrupted;
      return;
    }
    if (worst_ && worst_->weight() >= end.weight()) return;
    worst_ = end;
    code_ = end.signal != 0 ? ExitCode::kIncomplete : static_cast<ExitCode>(end.exit);
  }

  static void Say(const End& end) {
    constexpr std::string_view kJob = "The job has ended, and its other processes were killed";
    if (end.signal == 0) {
      spdlog::error(
          "rank {} (process {}) ended with exit code {}. {}. Its message above has the cure",
          end.rank, end.pid, end.exit, kJob);
      return;
    }
    spdlog::error(
        "rank {} (process {}) was ended by signal {} ({}). {}. The same command continues from the "
        "last checkpoint",
        end.rank, end.pid, end.signal, ::strsignal(end.signal), kJob);
  }

  std::map<pid_t, int> ranks_;  // ranks of the running copies
  std::optional<End> worst_;
  bool killed_ = false;
  ExitCode code_ = ExitCode::kOk;
};

}  // namespace

ExitCode RunProcesses(int count) { return Job(count).Wait(); }

}  // namespace agentr
