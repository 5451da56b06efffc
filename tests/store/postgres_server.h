// A PostgreSQL server for tests: Debian's package, with its data in a folder of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/common/scratch_folder.h"

namespace agentr {

// Why no server can be started here, with the cure; empty if one can. For GTEST_SKIP.
std::string WhyNoPostgres();

// Listens on a Unix socket in its folder only. As root it runs as the user "postgres", because the
// server refuses root. It ends with the thread that started it.
class PostgresServer {
 public:
  // `settings`: of postgresql.conf, such as "fsync=off". Throws std::runtime_error.
  explicit PostgresServer(std::vector<std::string> settings = {"fsync=off"});
  ~PostgresServer();  // ends it and removes the data
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Of the server's database "postgres", for its superuser.
  std::string url() const;
  std::string socket() const;  // the path of its Unix socket

  void Kill();   // with SIGKILL
  void Start();  // after Kill; returns when connections are accepted

  // Runs one statement as the superuser. Returns the first value, or "".
  std::string Ask(const std::string& sql) const;

 private:
  pid_t Spawn(const std::string& program, std::vector<std::string> arguments) const;

  const ScratchFolder folder_;
  std::vector<std::string> settings_;
  pid_t pid_ = -1;
};

}  // namespace agentr
