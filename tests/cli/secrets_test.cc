// Every program runs with secrets in its options, addresses and environment, successfully and not:
// none of them is in a file or a line that it writes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "clients/http/http_client.h"
#include "common/file.h"
#include "servers/http/http_service.h"
#include "tests/cli/few_rows.h"
#include "tests/cli/program.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/http/local_server.h"
#include "tests/lm/tiny_model_folder.h"
#include "tests/store/postgres_server.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

// Every secret contains the first of these; the others are forms in which it is sent.
constexpr const char* kPassword = "pwSESAMEpw";
const std::vector<std::string> kTraces = {"SESAME", "cHdTRVNBTUVwdw",  // base64 of the password
                                          "YW5uOnB3U0VTQU1FcHc="};     // and of ann:PASSWORD
const std::map<std::string, std::string> kEnvironment = {
    {"OPENAI_API_KEY", "sk-SESAME"}, {"AGENTR_API_KEY", "ak-SESAME"}, {"PGPASSWORD", "pg-SESAME"}};

// "http://127.0.0.1:80/v1" with a user and the password.
std::string WithPassword(const std::string& url) {
  const size_t host = url.find("://") + 3;
  return url.substr(0, host) + "ann:" + kPassword + "@" + url.substr(host);
}

// A model server that either answers or says in its refusal all that it was sent.
class Talker {
 public:
  explicit Talker(bool refuses) {
    const auto answer = [this, refuses](const httplib::Request& request, httplib::Response& reply) {
      saw_password_ = saw_password_ ||
                      request.get_header_value("Authorization") == "Basic YW5uOnB3U0VTQU1FcHc=";
      saw_key_ = saw_key_ || request.get_header_value("Authorization") == "Bearer sk-SESAME";
      if (!refuses) {
        return reply.set_content(
            R"({"choices":[{"message":{"content":"Action: inventory"},"finish_reason":"stop"}]})",
            "application/json");
      }
      reply.status = 403;
      std::string said = "you sent";
      for (const auto& [field, value] : request.headers) said += " " + field + ": " + value + ",";
      reply.set_content(nlohmann::json{{"error", {{"message", said + " ann:pwSESAMEpw"}}}}.dump(),
                        "application/json");
    };
    server_->Get(".*", answer);
    server_->Post(".*", answer);
    server_.Start();
  }
  std::string url() const { return server_.url() + "/v1"; }
  bool saw_password() const { return saw_password_; }
  bool saw_key() const { return saw_key_; }

 private:
  std::atomic<bool> saw_password_ = false, saw_key_ = false;
  LocalServer server_;
};

class Secrets : public ::testing::Test {
 protected:
  Secrets() {
    WriteTinyModel(folder_.path() / "tiny");
    WriteFileAtomically(folder_.path() / "rows.jsonl", FewRows());
  }

  // The files with a trace of a secret, and what surrounds it.
  std::vector<std::string> Leaks() const {
    std::vector<std::string> leaks;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      const std::string text = ReadFile(entry.path());
      for (const std::string& trace : kTraces) {
        const size_t at = text.find(trace);
        if (at == std::string::npos) continue;
        leaks.push_back(entry.path().string() + ": " + text.substr(at < 80 ? 0 : at - 80, 160));
      }
    }
    return leaks;
  }

  // Runs a program to its end, which leaves no trace of a secret.
  Outcome Run(const std::string& name, const Arguments& arguments,
              const std::map<std::string, std::string>& more = {}) {
    std::map<std::string, std::string> env = kEnvironment;
    for (const auto& [variable, value] : more) env[variable] = value;
    const Outcome outcome = RunProgram(name, arguments, folder_.path(), env);
    EXPECT_THAT(Leaks(), IsEmpty()) << name;
    ran_.insert(name);
    return outcome;
  }
  void MustRun(const std::string& name, const Arguments& arguments, int exit = 0) {
    const Outcome outcome = Run(name, arguments);
    EXPECT_EQ(outcome.exit, exit) << name << ": " << outcome.out << outcome.err;
  }

  static std::string Base(const EnvServer& server) { return WithPassword(server.base_url()); }

  ScratchFolder folder_;
  std::set<std::string> ran_;
};

const Arguments kFewTasks = {"--task", "textcraft",    "--min", "31",          "--max",
                             "35",     "--iterations", "2",     "--log_level", "trace"};

TEST_F(Secrets, OfAddressesAreUsedAndNotWritten) {
  const auto environment = StartServer("textcraft");
  const Talker model(/*refuses=*/false);
  const Arguments servers = {"--env_server_base", Base(*environment), "--llm_base",
                             WithPassword(model.url())};
  MustRun("mcts_collect",
          kFewTasks + servers + Arguments{"--model_name", "m", "--report", "collect.html"});
  EXPECT_TRUE(model.saw_password());
  const std::string resolved = ReadFile(folder_.path() / "mcts_result/textcraft/m/resolved.toml");
  EXPECT_THAT(resolved, AllOf(HasSubstr("env_server_base = [\"http://ann:***@127.0.0.1:"),
                              HasSubstr("llm_base = [\"http://ann:***@127.0.0.1:")));
  // Its trees have no good path.
  MustRun("path_collect", servers + Arguments{"--verifier", "actor", "--show", "1"}, 1);
  MustRun("agent_eval",
          Arguments{"--task", "textcraft", "--max", "2", "--max_steps", "3", "--model_name", "m"} +
              servers);
  MustRun("agent_train", {"--model_dir", "tiny", "--data", "rows.jsonl", "--max_steps", "2",
                          "--play_every", "1", "--play=--env_server_base=" + Base(*environment),
                          "--play=--max=1", "--play=--max_steps=1", "--play=--max_new_tokens=2"});
  MustRun("agent_report", {"mcts_result", "path_result", "test_result", "train_result"});
  // With the key alone.
  MustRun("agent_eval", {"--task", "textcraft", "--max", "2", "--max_steps", "3", "--model_name",
                         "k", "--llm_base", model.url()});
  EXPECT_TRUE(model.saw_key());
}

TEST_F(Secrets, OfTheStagesOfALoopAreNotWritten) {
  const auto environment = StartServer("textcraft");
  Arguments loop = {"--model_dir=tiny",
                    "--iterations=1",
                    "--alpha=0",
                    "--demonstrations=rows.jsonl",
                    "--collect=--min=200",
                    "--collect=--max=202",
                    "--collect=--iterations=1",
                    "--collect=--n_gen=1",
                    "--collect=--max_depth=2",
                    "--collect=--max_new_tokens=4",
                    "--collect=--env_server_base=" + Base(*environment),
                    "--evaluate=--max=2",
                    "--evaluate=--max_steps=2",
                    "--evaluate=--max_new_tokens=4",
                    "--evaluate=--env_server_base=" + Base(*environment),
                    "--train=--max_steps=1"};
  MustRun("self_train", loop + Arguments{"--report=loop.html"});
  const std::string folder = "loop_result/loop/";
  const std::string redacted = "--collect=--env_server_base=http://ann:***@127.0.0.1:";
  EXPECT_THAT(ReadFile(folder_.path() / (folder + "resolved.toml")),
              HasSubstr(redacted.substr(redacted.find("=") + 1)));
  EXPECT_THAT(ReadFile(folder_.path() / (folder + "loop.json")),
              HasSubstr("--env_server_base=http://ann:***@127.0.0.1:"));
  // The same command goes on, with another password too: nothing is left to do.
  const Outcome again = Run("self_train", loop);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, ::testing::Not(HasSubstr("\n== iteration")));
  for (std::string& argument : loop) {
    const size_t at = argument.find(kPassword);
    if (at != std::string::npos) argument.replace(at, 2, "PW");
  }
  EXPECT_EQ(Run("self_train", loop).exit, 0);
  // The file alone is not enough, and says so.
  const Outcome alone = Run("self_train", {"--config", folder + "resolved.toml"});
  EXPECT_EQ(alone.exit, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("--env_server_base: http://ann:***@127.0.0.1:"),
                               HasSubstr("is without its secret")));
}

TEST_F(Secrets, ARunGoesOnFromItsFileWithTheEnvironment) {
  const Talker model(/*refuses=*/false);
  const Arguments search = kFewTasks + Arguments{"--model_name", "m"};
  MustRun("mcts_collect", search + Arguments{"--llm_base", WithPassword(model.url())});
  const Arguments config = {"--config", "mcts_result/textcraft/m/resolved.toml"};
  const Outcome alone = Run("mcts_collect", config);
  EXPECT_EQ(alone.exit, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("--llm_base: http://ann:***@127.0.0.1:"),
                               HasSubstr("OPENAI_API_BASE")));
  const Outcome completed =
      Run("mcts_collect", config, {{"OPENAI_API_BASE", WithPassword(model.url())}});
  EXPECT_EQ(completed.exit, 0) << completed.err;
  EXPECT_THAT(completed.out, HasSubstr("4 existed already"));
}

TEST_F(Secrets, OfDatabasesAreUsedAndNotWritten) {
  if (const std::string why = WhyNoPostgres(); !why.empty()) GTEST_SKIP() << why;
  const PostgresServer database;
  const std::string url = fmt::format("postgresql://postgres:{}@/postgres?host={}", kPassword,
                                      fs::path(database.socket()).parent_path().string());
  const auto environment = StartServer("textcraft");
  const Arguments store = {"--store", url};
  const Arguments servers = {"--env_server_base", Base(*environment)};
  MustRun("mcts_collect", kFewTasks + store + servers);
  MustRun("agent_eval",
          Arguments{"--task", "textcraft", "--max", "2", "--max_steps", "3"} + store + servers);
  MustRun("path_collect", store + servers);
  MustRun("store_status", store);
  MustRun("store_status", store + Arguments{"--json"});
  MustRun("store_status", store + Arguments{"--check"});
  MustRun("store_status", store + Arguments{"--files_to", "copies"});
  MustRun("agentr", Arguments{"status"} + store);
  EXPECT_EQ(Run("store_status", {}, {{"AGENTR_STORE", url}}).exit, 0);
  EXPECT_EQ(Run("mcts_collect", kFewTasks + servers, {{"AGENTR_STORE", url}}).exit, 0);
  // A failed task keeps its reason.
  const Talker refusing(/*refuses=*/true);
  MustRun("mcts_collect",
          kFewTasks + store +
              Arguments{"--model_name", "m", "--llm_base", WithPassword(refusing.url())},
          1);
  MustRun("store_status", store);
  for (const char* table : {"run", "task", "worker"}) {
    const std::string rows =
        database.Ask(fmt::format("SELECT string_agg(row::text, ' ') FROM agentr.{} AS row", table));
    EXPECT_THAT(rows, ::testing::Not(HasSubstr("SESAME"))) << table;
    EXPECT_FALSE(rows.empty());
  }
  // In the arguments of a stage. The next stage finds no trees in the loop's own folder.
  const Outcome loop =
      Run("self_train",
          {"--model_dir=tiny", "--iterations=1", "--method=search-only", "--collect=--store=" + url,
           "--collect=--min=200", "--collect=--max=202", "--collect=--iterations=1",
           "--collect=--n_gen=1", "--collect=--max_depth=2", "--collect=--max_new_tokens=4",
           "--evaluate=--max=1", "--evaluate=--max_steps=1", "--evaluate=--max_new_tokens=4"});
  EXPECT_THAT(loop.out, AllOf(HasSubstr("--store=postgresql://postgres:***@/postgres"),
                              HasSubstr("run textcraft/model of")));
}

TEST_F(Secrets, AreNotInComplaints) {
  const Talker refusing(/*refuses=*/true);
  LocalServer gone;
  gone.Start();
  const std::string nobody = WithPassword(gone.url());
  gone.Stop();
  const std::string refused = WithPassword(refusing.url());
  const std::string wrong = WithPassword("http://127.0.0.1:port/v1");
  const Arguments task = {"--task", "textcraft", "--max", "1", "--log_level", "trace"};
  const Arguments quick = {"--llm_attempts", "1", "--env_attempts", "1"};
  for (const char* name : {"mcts_collect", "agent_eval"}) {
    for (const std::string& url : {nobody, wrong, refused}) {
      MustRun(name, task + quick + Arguments{"--env_server_base", url}, url == wrong ? 2 : 4);
    }
    for (const auto& [url, exit] : {std::pair(nobody, 4), {wrong, 2}}) {
      MustRun(name, task + quick + Arguments{"--model_name", "m", "--llm_base", url}, exit);
    }
    Run(name, task + quick + Arguments{"--model_name", "m", "--llm_base", refused});
    // Written wrong.
    for (const Arguments& typo : {Arguments{"--llm_bas=" + refused},
                                  {refused},
                                  {"--llm_base", refused, "--no_such_option"},
                                  {"--max", refused}}) {
      MustRun(name, typo, 2);
    }
    Run(name, {"--split=" + refused});
  }
  const std::string bad = fmt::format("postgresql://ann:{}@/x?host=/nowhere", kPassword);
  const std::string torn = "postgresql://ann:pw@SESAME/pw@nowhere.invalid/x";
  const std::string words = fmt::format("host=/nowhere user=ann password={}", kPassword);
  for (const std::string& url : {bad, torn, words}) {
    for (const char* name : {"mcts_collect", "agent_eval", "path_collect", "store_status"}) {
      MustRun(name, {"--store", url}, 4);
    }
    EXPECT_EQ(Run("self_train", {"--model_dir=tiny", "--iterations=1", "--method=search-only",
                                 "--collect=--store=" + url, "--collect=--max=202",
                                 "--collect=--min=200", "--evaluate=--max=1",
                                 "--evaluate=--max_steps=1", "--evaluate=--max_new_tokens=1"})
                  .exit,
              4);
  }
  MustRun("self_train", {"--model_dir=tiny", "--collect=--stor=" + bad}, 2);
  MustRun("self_train", {"--model_dir=tiny", "--collect=x:--store=" + bad}, 2);
  MustRun("self_train", {"--model_dir=tiny", "--revise=--store=" + bad}, 2);
  MustRun("agent_train",
          {"--model_dir", "tiny", "--data", "rows.jsonl", "--play_every", "1",
           "--play=--env_server_base=" + nobody, "--play=--env_attempts=1"},
          4);
  MustRun("agent_rl", {"--model_dir", "tiny", "--task", "echo", "--llm_base", refused}, 2);
  MustRun("path_collect", {"--input_dir", refused}, 3);
  MustRun("env_server",
          {"--task", "twenty_questions", "--port", "0", "--oracle_model", "m", "--oracle_base",
           nobody, "--oracle_timeout", "1"},
          4);
  MustRun("env_check", {"textcraft", "--base", nobody, "--env_attempts", "1"}, 4);
  MustRun("lm_server", {"--api_key=ak-SESAME", "--no_such_option"}, 2);
  MustRun("agentr", {"--store=" + bad}, 2);
  MustRun("agent_report", {refused}, 3);
  MustRun("make_demos", {refused}, 2);
  MustRun("model_convert", {refused}, 2);
  MustRun("model_convert", {"--model_dir", refused, "--output", "x"}, 3);
  MustRun("tree_show", {refused}, 3);
  std::istringstream help(RunProgram("agentr", {"--help"}, folder_.path()).out);
  for (std::string line; std::getline(help, line);) {
    std::istringstream columns(line);
    std::string command, program;
    if (!line.starts_with("  ") || !(columns >> command >> program)) continue;
    EXPECT_TRUE(ran_.contains(program)) << program << " was not tried";
    MustRun(program, {"--help"});
  }
}

// What a server says to those who ask, and on its terminal.
std::string Replies(const std::string& base, const std::vector<std::string>& paths,
                    const std::string& post, const std::string& body) {
  std::string text;
  HttpOptions options;
  for (const char* accept : {"*/*", "text/html"}) {
    options.headers["Accept"] = accept;
    HttpClient client(base, options, std::make_shared<CallStats>());
    const auto note = [&](const HttpResult& result) {
      text += result ? result->body : result.error().body + result.error().message;
    };
    for (const std::string& path : paths) note(client.Get(path));
    note(client.Post(post, body, true));
  }
  return text;
}

TEST_F(Secrets, OfServersAreToldToNobody) {
  const Talker model(/*refuses=*/false);
  Program oracle("env_server",
                 {"--task", "twenty_questions", "--port", "0", "--oracle_model", "m",
                  "--oracle_base", WithPassword(model.url()), "--log_level", "trace"},
                 folder_.path(), kEnvironment);
  const std::string base = oracle.WaitForUrl();
  HttpClient client(base, HttpOptions(), std::make_shared<CallStats>());
  client.Post("/create", "{}", true);
  client.Post("/reset", R"({"id":0,"data_idx":3})", true);
  std::string said = Replies(base, {"/", "/version", "/metrics", "/health", "/x"}, "/step",
                             R"({"id":0,"action":"Is it alive?"})");
  EXPECT_TRUE(model.saw_password());
  Program lm("lm_server", {"--model_dir", "tiny", "--port", "0", "--api_key", "ak-SESAME"},
             folder_.path(), kEnvironment);
  said += Replies(lm.WaitForUrl(), {"/", "/v1/models", "/metrics", "/health"},
                  "/v1/chat/completions", "{}");
  EXPECT_THAT(said, AllOf(HasSubstr("wrong or missing"), HasSubstr("agentr_http_requests_total"),
                          HasSubstr("twenty_questions")));
  for (const std::string& trace : kTraces) EXPECT_EQ(said.find(trace), std::string::npos) << trace;
  for (Program* server : {&oracle, &lm}) {
    server->Signal(SIGTERM);
    EXPECT_EQ(server->Wait().exit, 0);
  }
  EXPECT_THAT(Leaks(), IsEmpty());
}

TEST_F(Secrets, OfARunAreNotInItsMetrics) {
  const Talker model(/*refuses=*/false);
  // The port of a server that has ended is free.
  const int port = [] {
    HttpService service({.port = 0});
    service.Start();
    return service.port();
  }();
  Program search("mcts_collect",
                 {"--task", "textcraft", "--max", "400", "--model_name", "m", "--llm_base",
                  WithPassword(model.url()), "--metrics_port", std::to_string(port)},
                 folder_.path(), kEnvironment);
  HttpClient client(fmt::format("http://127.0.0.1:{}", port), HttpOptions(),
                    std::make_shared<CallStats>());
  std::string text;
  while (search.Running() && text.find("agentr_run") == std::string::npos) {
    if (const auto reply = client.Get("/metrics")) text = reply->body;
  }
  EXPECT_THAT(text, HasSubstr("agentr_run_tasks"));
  for (const std::string& trace : kTraces) EXPECT_EQ(text.find(trace), std::string::npos);
  search.Signal(SIGTERM);
  search.Wait();
  EXPECT_THAT(Leaks(), IsEmpty());
}

}  // namespace
}  // namespace agentr
