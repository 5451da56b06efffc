#include "store/database.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/interrupt.h"
#include "store/results.h"
#include "tests/common/silent_peer.h"
#include "tests/store/shared_server.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class DatabaseTest : public WithPostgres {};

// What `body` throws: the exit code and the message.
template <typename Body>
std::pair<ExitCode, std::string> Thrown(Body body) {
  try {
    body();
  } catch (const FatalError& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::kOk, "nothing was thrown"};
}

TEST_F(DatabaseTest, MakesItsTablesOnce) {
  Database first(Options());
  Database second(Options());
  EXPECT_EQ(second.Query("SELECT count(*) FROM agentr.schema_version").Int(0, 0), 1);
}

TEST_F(DatabaseTest, ManyProgramsMakeTheTablesAtTheSameTime) {
  server().Ask("DROP SCHEMA IF EXISTS agentr CASCADE");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] { EXPECT_NO_THROW(Database{Options()}); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server().Ask("SELECT max(version) FROM agentr.schema_version"), "1");
}

TEST_F(DatabaseTest, RefusesTablesOfANewerVersion) {
  Database{Options()};
  server().Ask("INSERT INTO agentr.schema_version VALUES (99)");
  const auto [code, message] = Thrown([] { Database{Options()}; });
  server().Ask("DELETE FROM agentr.schema_version WHERE version = 99");
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_THAT(message, AllOf(HasSubstr("of version 99"), HasSubstr("use the newer one")));
}

// Makes the schema anew after a test that changed it.
class OtherTablesTest : public WithPostgres {
 protected:
  void SetUp() override {
    WithPostgres::SetUp();
    if (!IsSkipped()) server().Ask("DROP SCHEMA IF EXISTS agentr CASCADE");
  }
  void TearDown() override {
    if (!IsSkipped()) server().Ask("DROP SCHEMA IF EXISTS agentr CASCADE");
  }
};

TEST_F(OtherTablesTest, AreSaidToBeOfAnotherProgram) {
  server().Ask("CREATE SCHEMA agentr");
  server().Ask("CREATE TABLE agentr.run (title text)");
  const auto [code, message] = Thrown([] { Database{Options()}; });
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_THAT(message, AllOf(HasSubstr("with tables of another program"),
                             HasSubstr("give --store another database")));
}

TEST_F(OtherTablesTest, AVersionThatIsTextIsNamed) {
  server().Ask("CREATE SCHEMA agentr");
  server().Ask("CREATE TABLE agentr.schema_version (version text)");
  server().Ask("INSERT INTO agentr.schema_version VALUES ('first')");
  const auto [code, message] = Thrown([] { Database{Options()}; });
  EXPECT_EQ(code, ExitCode::kFile);
  EXPECT_THAT(message, AllOf(HasSubstr("has \"first\" where a number belongs"),
                             HasSubstr("give --store another database")));
}

TEST_F(OtherTablesTest, ASizeThatCannotBeIsNotBelieved) {
  Database database(Options());
  const int64_t run = FindOrMakeRun(database, {"rows", "a"}, "{}").id;
  for (const char* size : {"9223372036854775807", "-1", "5"}) {
    StoreFile(database, run, "f", "rows");
    server().Ask(std::string("UPDATE agentr.file SET bytes = ") + size);
    EXPECT_THROW(LoadFile(database, run, "f", "a/f"), FatalError) << size;
  }
  // A body that grows to as much as its size promises is never unpacked whole.
  StoreFile(database, run, "f", std::string(50'000'000, 'x'));
  server().Ask("UPDATE agentr.file SET bytes = 100");
  EXPECT_THROW(LoadFile(database, run, "f", "a/f"), FatalError);
}

TEST_F(DatabaseTest, ValuesOfAllTypesComeBack) {
  Database database(Options());
  const std::string bytes("\0\x01\xff'\\", 5);
  const SqlRows rows =
      database.Query("SELECT $1::bytea, $2::text, $3::bigint::text",
                     {SqlValue::Bytes(bytes), "O'Neil \"ü\"", int64_t{1} << 40}, SqlFormat::kBytes);
  EXPECT_EQ(rows.Text(0, 0), bytes);
  EXPECT_EQ(rows.Text(0, 1), "O'Neil \"ü\"");
  EXPECT_EQ(rows.Int(0, 2), int64_t{1} << 40);
  const SqlRows numbers =
      database.Query("SELECT unnest($1::bigint[]), NULL, 0.5, true", {std::vector<int64_t>{3, -4}});
  ASSERT_EQ(numbers.size(), 2);
  EXPECT_EQ(numbers.Int(1, 0), -4);
  EXPECT_TRUE(numbers.IsNull(0, 1));
  EXPECT_EQ(numbers.Double(0, 2), 0.5);
  EXPECT_EQ(numbers.Text(0, 3), "t");
}

TEST_F(DatabaseTest, AnErrorOfAStatementIsNotTriedAgain) {
  Database database(Options());
  const auto [code, message] = Thrown([&] { database.Query("SELECT 1 / 0"); });
  EXPECT_EQ(code, ExitCode::kFile);
  EXPECT_THAT(message, AllOf(HasSubstr("division by zero"), HasSubstr(database.place())));
  EXPECT_EQ(database.Query("SELECT 7").Int(0, 0), 7) << "the connection is still good";
}

TEST_F(DatabaseTest, WhatCannotBeReachedIsSaidAtOnce) {
  StoreOptions options = Options();
  options.url = "postgresql://postgres@/postgres?host=/nowhere";
  const auto [code, message] = Thrown([&] { Database{options}; });
  EXPECT_EQ(code, ExitCode::kUnavailable);
  EXPECT_THAT(message, AllOf(HasSubstr("/nowhere"), HasSubstr("check the address")));
  options.url = server().url() + "&password=secret&dbname=none";
  const auto [refused, why] = Thrown([&] { Database{options}; });
  EXPECT_EQ(refused, ExitCode::kUnavailable);
  EXPECT_THAT(why, AllOf(HasSubstr("\"none\" does not exist"), Not(HasSubstr("secret"))));
}

TEST_F(DatabaseTest, AUserWhoMayNotMakeTablesIsToldWhatToGrant) {
  server().Ask("DROP SCHEMA IF EXISTS agentr CASCADE");
  server().Ask("CREATE USER guest");
  StoreOptions options = Options();
  options.url = server().url() + "&user=guest";
  const auto [code, message] = Thrown([&] { Database{options}; });
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_THAT(message, AllOf(HasSubstr("permission denied"), HasSubstr("GRANT CREATE")));
}

TEST_F(DatabaseTest, ASecondUserIsToldWhatToGrant) {
  Database{Options()};
  server().Ask("CREATE USER second");
  StoreOptions options = Options();
  options.url = server().url() + "&user=second";
  const auto [code, message] = Thrown([&] { Database{options}; });
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_THAT(message, AllOf(HasSubstr("GRANT USAGE ON SCHEMA agentr"),
                             HasSubstr("SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA agentr")));
  server().Ask("GRANT USAGE ON SCHEMA agentr TO second");
  server().Ask("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA agentr TO second");
  Database database(options);
  const RunRecord run = FindOrMakeRun(database, {"rows", "second"}, "{}");
  StoreFile(database, run.id, "a.jsonl", "rows");
  EXPECT_EQ(LoadFile(database, run.id, "a.jsonl", "a"), "rows");
}

TEST_F(DatabaseTest, GoesOnAfterTheServerWasKilled) {
  Database database(Options());
  EXPECT_EQ(database.Query("SELECT 0").Int(0, 0), 0);
  server().Kill();
  std::thread queries([&] {
    // The process that serves the connection may live on for a moment.
    for (int i = 1; i < 50; ++i) {
      EXPECT_NO_THROW(EXPECT_EQ(database.Query("SELECT $1::bigint", {i}).Int(0, 0), i));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  server().Start();
  queries.join();
}

TEST_F(DatabaseTest, GivesUpWhenPatienceEndsAndThenAtOnce) {
  StoreOptions options = Options();
  options.patience_s = 1;
  Database database(options);
  const auto query = [&] { database.Query("SELECT 1"); };
  server().Kill();
  // The process that serves the connection may live on for a moment and answer.
  std::pair<ExitCode, std::string> first = Thrown(query);
  while (first.first == ExitCode::kOk) first = Thrown(query);
  for (const auto& [code, message] : {first, Thrown(query)}) {
    EXPECT_EQ(code, ExitCode::kUnavailable);
    EXPECT_THAT(message, AllOf(HasSubstr("has not answered for 1 s"), HasSubstr(database.place()),
                               HasSubstr("run the same command again")));
  }
  server().Start();
}

// A server behind a peer that hands on everything until it falls silent.
class BehindAPeer {
 public:
  explicit BehindAPeer(const PostgresServer& server, Silence silence = Silence::kNeverAnswers)
      : peer(silence, {.drops = {"E\0\0\x75\x2fx", 6}, .target = server.socket()}) {}

  std::string url() const {
    return fmt::format("postgresql://postgres@127.0.0.1:{}/postgres?sslmode=disable", peer.port());
  }

  SilentPeer peer;
};

TEST_F(DatabaseTest, AStatementOfASilentServerFailsAfterItsTime) {
  BehindAPeer behind(server());
  PostgresConnection connection(behind.url(), {.silent_s = 0.2});
  EXPECT_EQ(connection.Query("SELECT 1").Int(0, 0), 1);
  behind.peer.FallSilent();
  try {
    connection.Query("SELECT 1");
    ADD_FAILURE();
  } catch (const SqlError& error) {
    EXPECT_TRUE(error.transient());
    EXPECT_THAT(error.what(), HasSubstr("no answer for 0.2 s"));
  }
}

// More than the buffers between the two hold, so that the statement cannot even be sent.
TEST_F(DatabaseTest, AStatementThatNobodyReadsFailsAfterItsTime) {
  server().Ask("SELECT 1");
  BehindAPeer behind(server());
  PostgresConnection connection(behind.url(), {.silent_s = 0.2});
  ASSERT_EQ(connection.Query("SELECT 1").Int(0, 0), 1);
  behind.peer.StopReading();
  EXPECT_THROW(connection.Query("SELECT length($1)", {std::string(32 << 20, 'x')}), SqlError);
}

// Whatever kind of silence it is, the run ends when it is stopped, and what follows fails at once.
TEST_F(DatabaseTest, AStoppedRunDoesNotWaitForASilentServer) {
  for (const Silence silence : {Silence::kNeverAccepts, Silence::kNeverAnswers, Silence::kDrips}) {
    BehindAPeer behind(server(), silence);
    StoreOptions options = Options();
    options.url = behind.url();
    options.patience_s = 3600;
    options.stop_grace_s = 0.2;
    Database database(options);
    behind.peer.FallSilent();
    std::jthread stopper([&] {
      while (!behind.peer.IsAwaited()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      StopOnSignal() = true;
    });
    EXPECT_EQ(Thrown([&] { database.Query("SELECT 1"); }).first, ExitCode::kInterrupted);
    EXPECT_EQ(Thrown([&] { database.Query("SELECT 1"); }).first, ExitCode::kInterrupted);
    EXPECT_EQ(Thrown([&] { Database{options}; }).first, ExitCode::kInterrupted);
    stopper.join();
    StopOnSignal() = false;
  }
}

TEST_F(DatabaseTest, AStoppedRunStillStoresWhatItHas) {
  Database database(Options());
  StopOnSignal() = true;
  EXPECT_EQ(database.Query("SELECT 7").Int(0, 0), 7);
  StopOnSignal() = false;
}

// libpq quotes what it cannot read of a URL.
TEST_F(DatabaseTest, NoMessageHasThePasswordOfTheUrl) {
  for (const char* url :
       {"postgresql://ann:hunter2@/x?host=/nowhere", "postgresql://ann:hun@ter2@/x?host=/nowhere",
        "postgresql://ann:hun/ter2@nowhere.invalid:1/x", "postgresql://ann:hun%zzter2@/x",
        "postgresql://ann:hunter2@/x?host=/nowhere&port=hunter2", "host=/nowhere password=hunter2",
        "host=/nowhere password=hunter2'", "postgresql://ann:hunter2@/x?hunter2=1",
        "postgresql://ann:[hunter2@/x"}) {
    StoreOptions options = Options();
    options.url = url;
    const auto [code, message] = Thrown([&] { Database{options}; });
    EXPECT_EQ(code, ExitCode::kUnavailable);
    EXPECT_THAT(message,
                AllOf(HasSubstr("--store: "), Not(HasSubstr("hun")), Not(HasSubstr("ter2"))))
        << url;
  }
}

TEST_F(DatabaseTest, FilesAreReplacedAndComeBack) {
  Database database(Options());
  const RunRecord run = FindOrMakeRun(database, {"rows", "files"}, "{}");
  StoreFile(database, run.id, "a.jsonl", "old");
  StoreFile(database, run.id, "a.jsonl", std::string(100'000, 'x'));
  StoreFile(database, run.id, "b.jsonl", "");
  EXPECT_THAT(FilesOf(database, run.id), ElementsAre("a.jsonl", "b.jsonl"));
  EXPECT_EQ(LoadFile(database, run.id, "a.jsonl", "a"), std::string(100'000, 'x'));
  EXPECT_EQ(LoadFile(database, run.id, "b.jsonl", "b"), "");
  EXPECT_THAT(Thrown([&] { LoadFile(database, run.id, "c.jsonl", "c.jsonl of files"); }).second,
              HasSubstr("c.jsonl of files has no result"));
}

}  // namespace
}  // namespace agentr
