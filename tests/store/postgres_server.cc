#include "tests/store/postgres_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "common/file.h"
#include "store/postgres.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// The folder of initdb and postgres, which Debian does not put into PATH; empty if there is none.
fs::path ServerPrograms() {
  std::vector<fs::path> versions;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
    if (fs::exists(entry.path() / "bin/initdb")) versions.push_back(entry.path() / "bin");
  }
  return versions.empty() ? fs::path() : *std::ranges::max_element(versions);
}

// The user that runs the server if this process is root.
const passwd* ServerUser() { return ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr; }

}  // namespace

std::string WhyNoPostgres() {
  if (ServerPrograms().empty()) {
    return "no PostgreSQL server is installed: scripts/setup.sh --postgresql";
  }
  if (::geteuid() == 0 && ServerUser() == nullptr) return "there is no user postgres";
  return "";
}

PostgresServer::PostgresServer(std::vector<std::string> settings) : settings_(std::move(settings)) {
  if (const passwd* user = ServerUser()) {
    if (::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0) {
      throw std::runtime_error("cannot give " + folder_.path().string() + " to postgres");
    }
  }
  const pid_t initdb = Spawn("initdb", {"-D", folder_ / "data", "-U", "postgres", "-A", "trust",
                                        "-E", "UTF8", "--locale=C", "--no-sync"});
  int status = 0;
  ::waitpid(initdb, &status, 0);
  if (status != 0) throw std::runtime_error("initdb failed: " + ReadFile(folder_ / "log"));
  Start();
}

PostgresServer::~PostgresServer() {
  if (pid_ > 0) {
    ::kill(pid_, SIGQUIT);  // an immediate shutdown
    ::waitpid(pid_, nullptr, 0);
  }
}

std::string PostgresServer::url() const {
  return fmt::format("postgresql://postgres@/postgres?host={}", folder_.path().string());
}

std::string PostgresServer::socket() const { return (folder_ / ".s.PGSQL.5432").string(); }

void PostgresServer::Kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void PostgresServer::Start() {
  std::vector<std::string> arguments = {"-D", folder_ / "data",   "-k", folder_.path(),
                                        "-c", "listen_addresses="};
  for (const std::string& setting : settings_) {
    arguments.insert(arguments.end(), {"-c", setting});
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (std::chrono::steady_clock::now() < end) {
    if (pid_ < 0) pid_ = Spawn("postgres", arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    // After a kill it cannot start before the last of its former processes has ended.
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    try {
      const PostgresConnection connection(url());
      if (pid_ > 0) return;
    } catch (const SqlError&) {
      continue;
    }
  }
  throw std::runtime_error("the server does not start: " + ReadFile(folder_ / "log"));
}

std::string PostgresServer::Ask(const std::string& sql) const {
  const SqlRows rows = PostgresConnection(url()).Query(sql.c_str());
  return rows.size() > 0 ? std::string(rows.Text(0, 0)) : "";
}

pid_t PostgresServer::Spawn(const std::string& program, std::vector<std::string> arguments) const {
  const fs::path binary = ServerPrograms() / program;
  const passwd* user = ServerUser();
  // The whole path, because the programs look beside it for each other.
  arguments.insert(arguments.begin(), binary.string());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                          ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  // A test that is killed leaves no server behind. After setuid, which clears this.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::chdir(folder_.path().c_str()) != 0) ::_exit(126);
  const int log = ::open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv(binary.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace agentr
