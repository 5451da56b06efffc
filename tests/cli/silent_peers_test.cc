// Every program waits for peers that say nothing, at its start and later: one signal ends it within
// a bounded time, and the second one at once.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include "clients/http/http_client.h"
#include "common/file.h"
#include "common/text.h"
#include "servers/env_server.h"
#include "tests/cli/few_rows.h"
#include "tests/cli/program.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/http/local_server.h"
#include "tests/common/silent_peer.h"
#include "tests/lm/tiny_model_folder.h"
#include "tests/store/postgres_server.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

// Far more than any program needs, for machines that are busy.
constexpr std::chrono::seconds kWatchdog(90);

bool Eventually(const std::function<bool()>& condition) {
  const auto end = Clock::now() + kWatchdog;
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  return true;
}

// Bytes from a client that has got well into its work: some requests, or some stored results.
constexpr size_t kSomeBytes = 2000;
constexpr size_t kSomeResults = 20'000;

// A model server whose model always says the same.
class SmallTalk {
 public:
  SmallTalk() {
    server_->Post("/v1/chat/completions", [](const auto&, auto& reply) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      reply.set_content(
          R"({"choices":[{"message":{"content":"Action: inventory"},"finish_reason":"stop"}]})",
          "application/json");
    });
    server_.Start();
  }
  std::string port() const { return std::to_string(server_.port()); }

 private:
  LocalServer server_;
};

// A program in a folder of its own, and the peer that it waits for.
struct Waiter {
  std::string what;  // for messages
  std::unique_ptr<ScratchFolder> folder = std::make_unique<ScratchFolder>();
  std::unique_ptr<SilentPeer> peer = nullptr;  // null: the test itself is the peer
  std::unique_ptr<Program> program = nullptr;
  // Brings a server into the state in which it waits; what it returns lives as long as the server.
  std::function<std::shared_ptr<void>(Waiter&)> provoke = nullptr;
  std::shared_ptr<void> provoked = nullptr;
};

// What all programs of a test use.
class Surroundings {
 public:
  Surroundings() {
    WriteTinyModel(folder_.path() / "tiny");
    WriteFileAtomically(folder_.path() / "rows.jsonl", FewRows());
    const Outcome searched = RunProgram(
        "mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "43"}, folder_.path());
    EXPECT_EQ(searched.exit, 0) << searched.err;
    if (WhyNoPostgres().empty()) postgres_ = std::make_unique<PostgresServer>();
  }

  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string environment_port() const { return std::to_string(environment_->port()); }
  std::string model_port() const { return model_.port(); }
  // Empty without PostgreSQL.
  std::string database_socket() const { return postgres_ == nullptr ? "" : postgres_->socket(); }

 private:
  ScratchFolder folder_;
  std::unique_ptr<EnvServer> environment_ = StartServer("textcraft");
  SmallTalk model_;
  std::unique_ptr<PostgresServer> postgres_;
};

// The table of programs and of the peers that they may wait for.
class Waiters {
 public:
  Waiters(Silence silence, const Surroundings& around) : silence_(silence), around_(around) {
    WaitingForServers();
    WaitingForDatabases();
    WaitingForRanks();
    Loops();
    Servers();
  }

  std::vector<std::unique_ptr<Waiter>>& all() { return all_; }

 private:
  // In arguments and variables "{}" is the address of the peer and "PORT" its port.
  Waiter& Add(const std::string& what, const std::string& name, Arguments arguments,
              SilentPeer::Options options, const std::string& address,
              const std::map<std::string, std::string>& env = {}) {
    auto waiter = std::make_unique<Waiter>();
    const bool later = !options.target.empty();
    waiter->what = fmt::format("{}: {}, {}", name, what, later ? "later" : "at the start");
    waiter->peer = std::make_unique<SilentPeer>(silence_, std::move(options));
    const std::string port = std::to_string(waiter->peer->port());
    const auto with_port = [&](std::string text) {
      ReplaceAll(text, "{}", address);
      ReplaceAll(text, "PORT", port);
      return text;
    };
    for (std::string& argument : arguments) argument = with_port(argument);
    std::map<std::string, std::string> variables;
    for (const auto& [variable, value] : env) variables[variable] = with_port(value);
    waiter->program = std::make_unique<Program>(name, arguments, waiter->folder->path(), variables);
    all_.push_back(std::move(waiter));
    return *all_.back();
  }

  void AddHttp(const std::string& what, const std::string& name, const Arguments& arguments,
               const std::string& target) {
    const std::string path = what == "model server" ? "/v1" : "";
    const std::string address = "http://127.0.0.1:PORT" + path;
    Add(what, name, arguments, {}, address);
    if (!target.empty())
      Add(what, name, arguments, {.target = target, .until_heard = kSomeBytes}, address);
  }

  void WaitingForServers() {
    const Arguments search = {"--task", "textcraft", "--split",          "all",
                              "--max",  "500",       "--model_delay_ms", "5"};
    const Arguments environment = {"--env_server_base", "{}", "--env_timeout", "86400"};
    const Arguments model = {"--llm_base", "{}", "--model_name", "m", "--llm_timeout", "86400"};
    for (const char* name : {"mcts_collect", "agent_eval"}) {
      AddHttp("environment server", name, search + environment, around_.environment_port());
      AddHttp("model server", name, search + model, around_.model_port());
    }
    AddHttp("environment server", "env_check", Arguments{"textcraft"} + environment, "");
    const Arguments revise = {"--input_dir", around_.Path("mcts_result")};
    AddHttp("environment server", "path_collect", revise + environment, "");
    AddHttp("model server", "path_collect",
            revise + Arguments{"--llm_base", "{}", "--model_name", "planner", "--llm_timeout",
                               "86400", "--verifier", "actor"},
            around_.model_port());
  }

  void WaitingForDatabases() {
    const std::string url = "postgresql://postgres@127.0.0.1:PORT/postgres?sslmode=disable";
    const std::string drops("E\0\0\x75\x2fx", 6);  // the head of a long message
    const Arguments search = {
        "--task",        "textcraft", "--split",          "all", "--max",   "500",
        "--store_lease", "5",         "--model_delay_ms", "5",   "--store", "{}"};
    const std::string socket = around_.database_socket();
    for (const char* name : {"mcts_collect", "agent_eval"}) {
      Add("database", name, search, {drops, ""}, url);
      if (!socket.empty()) Add("database", name, search, {drops, socket, kSomeResults}, url);
    }
    Add("database", "path_collect", {"--store", "{}"}, {drops, ""}, url);
    Add("database", "store_status", {"--store", "{}"}, {drops, ""}, url);
    Add("database, --check", "store_status", {"--store", "{}", "--check"}, {drops, ""}, url);
    if (socket.empty()) return;
    Add("database, --watch", "store_status", {"--store", "{}", "--watch", "0.05"},
        {drops, socket, kSomeBytes}, url);
  }

  void WaitingForRanks() {
    const std::map<std::string, std::string> rank = {{"RANK", "1"},
                                                     {"WORLD_SIZE", "2"},
                                                     {"LOCAL_RANK", "1"},
                                                     {"MASTER_ADDR", "127.0.0.1"},
                                                     {"MASTER_PORT", "PORT"}};
    // c10d's store answers with such bytes that a key is not there yet.
    const SilentPeer::Options not_ready = {.drops = "\x01"};
    Add("rank 0", "agent_train",
        {"--model_dir", around_.Path("tiny"), "--data", around_.Path("rows.jsonl"), "--max_steps",
         "100"},
        not_ready, "", rank);
    Add("rank 0", "agent_rl", {"--model_dir", around_.Path("tiny"), "--task", "echo"}, not_ready,
        "", rank);
  }

  void Loops() {
    const Arguments model = {"--model_dir", around_.Path("tiny")};
    AddHttp("environment server", "self_train",
            model + Arguments{"--evaluate=--env_server_base={}", "--evaluate=--env_timeout=86400"},
            "");
    AddHttp(
        "environment server", "agent_train",
        model + Arguments{"--data", around_.Path("rows.jsonl"), "--max_steps", "3", "--play_every",
                          "1", "--play=--env_server_base={}", "--play=--env_timeout=86400"},
        "");
  }

  void Servers() {
    const Arguments asks = {
        "--task", "twenty_questions", "--port", "0", "--oracle_base", "{}", "--oracle_model",
        "m",      "--oracle_timeout", "86400"};
    Add("oracle", "env_server", asks, {}, "http://127.0.0.1:PORT/v1");
    Waiter& later = Add("oracle", "env_server", asks, {.target = around_.model_port()},
                        "http://127.0.0.1:PORT/v1");
    later.provoke = AskAQuestion;
    AddWithClient("env_server", {"--task", "textcraft", "--port", "0"});
    AddWithClient("lm_server", {"--model_dir", around_.Path("tiny"), "--port", "0"});
  }

  // A server whose client begins a request and says no more.
  void AddWithClient(const std::string& name, const Arguments& arguments) {
    auto waiter = std::make_unique<Waiter>();
    waiter->what = name + ": client, later";
    waiter->program = std::make_unique<Program>(name, arguments, waiter->folder->path());
    waiter->provoke = BeginARequest;
    all_.push_back(std::move(waiter));
  }

  static std::shared_ptr<void> AskAQuestion(Waiter& waiter) {
    const std::string base = waiter.program->WaitForUrl();
    waiter.peer->FallSilent();
    return std::make_shared<std::jthread>([base] {
      HttpOptions options;
      options.timeout_s = 86400;
      HttpClient client(base, options, std::make_shared<CallStats>());
      client.Post("/create", "{}", false);
      client.Post("/reset", R"({"id":0,"data_idx":3})", false);
      client.Post("/step", R"({"id":0,"action":"Is it alive?"})", false);
    });
  }

  static std::shared_ptr<void> BeginARequest(Waiter& waiter) {
    const std::string base = waiter.program->WaitForUrl();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(base.substr(base.rfind(':') + 1))));
    const std::shared_ptr<int> client(new int(::socket(AF_INET, SOCK_STREAM, 0)), [](int* fd) {
      ::close(*fd);
      delete fd;
    });
    EXPECT_EQ(::connect(*client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string text =
        "POST /create HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{";
    EXPECT_GT(::send(*client, text.data(), text.size(), MSG_NOSIGNAL), 0);
    return client;
  }

  const Silence silence_;
  const Surroundings& around_;
  std::vector<std::unique_ptr<Waiter>> all_;
};

std::string Name(Silence silence) {
  if (silence == Silence::kNeverAccepts) return "NeverAccepts";
  return silence == Silence::kNeverAnswers ? "NeverAnswers" : "Drips";
}

class SilentPeers : public ::testing::TestWithParam<Silence> {
 protected:
  // Starts everything at once, and returns when each program waits for its peer.
  std::vector<std::unique_ptr<Waiter>>& Begin() {
    waiters_ = std::make_unique<Waiters>(GetParam(), around_);
    for (const auto& waiter : waiters_->all()) {
      if (waiter->provoke) waiter->provoked = waiter->provoke(*waiter);
    }
    for (const auto& waiter : waiters_->all()) {
      if (waiter->peer == nullptr) continue;
      EXPECT_TRUE(Eventually([&] {
        return waiter->peer->IsAwaited() || !waiter->program->Running();
      })) << waiter->what;
    }
    // What is connected has a request on the way soon.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    for (const auto& waiter : waiters_->all()) {
      if (!waiter->program->Running()) {
        ADD_FAILURE() << waiter->what << " has not waited: " << waiter->program->Wait().err;
      }
    }
    return waiters_->all();
  }

  void SignalAll() {
    for (const auto& waiter : waiters_->all()) waiter->program->Signal(SIGTERM);
  }

  // 130: interrupted; 143: ended by the signal, because nothing was to be saved, or at once; 0: a
  // server.
  void ExpectEnds() {
    for (const auto& waiter : waiters_->all()) {
      const bool ended = Eventually([&] { return !waiter->program->Running(); });
      if (!ended) {
        ADD_FAILURE() << waiter->what << ": the signals do not end it";
        waiter->program->Signal(SIGKILL);
      }
      const Outcome outcome = waiter->program->Wait();
      const bool server = waiter->what.find("_server:") != std::string::npos;
      EXPECT_TRUE(outcome.exit == 130 || outcome.exit == 143 || (server && outcome.exit == 0))
          << waiter->what << ": " << outcome.exit << "\n"
          << outcome.err;
    }
  }

  Surroundings around_;
  std::unique_ptr<Waiters> waiters_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, SilentPeers,
                         ::testing::Values(Silence::kNeverAccepts, Silence::kNeverAnswers,
                                           Silence::kDrips),
                         [](const auto& test) { return Name(test.param); });

TEST_P(SilentPeers, OneSignalEndsWhoeverWaits) {
  Begin();
  SignalAll();
  ExpectEnds();
}

TEST_P(SilentPeers, ASecondSignalEndsWhoeverWaits) {
  Begin();
  SignalAll();
  // Two signals at once would be one.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  SignalAll();
  ExpectEnds();
}

// The table has every program that can wait for a peer.
TEST(SilentPeersTable, HasEveryProgram) {
  const std::set<std::string> without_peers = {"agent_report", "make_demos", "model_convert",
                                               "tree_show"};
  const Surroundings around;
  Waiters waiters(Silence::kNeverAnswers, around);
  std::set<std::string> there = without_peers;
  for (const auto& waiter : waiters.all()) {
    there.insert(waiter->what.substr(0, waiter->what.find(':')));
  }
  const ScratchFolder folder;
  std::istringstream help(RunProgram("agentr", {"--help"}, folder.path()).out);
  std::set<std::string> programs;
  for (std::string line; std::getline(help, line);) {
    std::istringstream words(line);
    std::string command, program;
    if (line.starts_with("  ") && words >> command >> program) programs.insert(program);
  }
  EXPECT_EQ(programs.size(), 14U);
  EXPECT_EQ(there, programs);
}

}  // namespace
}  // namespace agentr
