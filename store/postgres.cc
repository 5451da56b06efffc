#include "store/postgres.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>
#include <spdlog/spdlog.h>

#include <array>
#include <charconv>
#include <chrono>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "common/abandonable.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

namespace agentr {
namespace {

// What libpq writes, on one line: its lines after the first are details.
std::string Message(const char* text) {
  return OneLine(std::string(Trim(text == nullptr ? "" : text)));
}

// SQLSTATEs (PostgreSQL's manual, appendix A) after which the same statement may succeed:
// connection lost, server stopped, crashed or starting, too many connections, serialisation,
// deadlock.
bool IsTransientState(const std::string& state) {
  static const std::set<std::string> kStates = {"57P01", "57P02", "57P03",
                                                "53300", "40001", "40P01"};
  return state.starts_with("08") || kStates.contains(state);
}

}  // namespace

SqlValue::SqlValue(const std::vector<int64_t>& numbers)
    : text_(fmt::format("{{{}}}", fmt::join(numbers, ","))) {}

SqlValue SqlValue::Bytes(std::string bytes) {
  SqlValue value(std::move(bytes));
  value.is_bytes_ = true;
  return value;
}

SqlRows::SqlRows(pg_result* result) : result_(result, PQclear) {}

int SqlRows::size() const { return PQntuples(result_.get()); }

bool SqlRows::IsNull(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view SqlRows::Text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<size_t>(PQgetlength(result_.get(), row, column))};
}

template <typename T>
T SqlRows::Number(int row, int column) const {
  if (IsNull(row, column)) return 0;
  const std::string_view text = Text(row, column);
  T number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault == std::errc() && end == text.data() + text.size()) return number;
  throw FatalError(ExitCode::kFile,
                   fmt::format("the database has \"{}\" where a number belongs (column {}): its "
                               "tables are damaged, or of another program. Cure: restore them, or "
                               "give --store another database",
                               EscapeControls(text), PQfname(result_.get(), column)));
}

int64_t SqlRows::Int(int row, int column) const { return Number<int64_t>(row, column); }

double SqlRows::Double(int row, int column) const { return Number<double>(row, column); }

namespace {

// The parameters of a connection. Words after "dbname" would take precedence over the URL.
constexpr size_t kParameters = 8;
constexpr std::array<const char*, kParameters> kNames = {
    "fallback_application_name", "connect_timeout",  "keepalives_idle", "keepalives_interval",
    "keepalives_count",          "tcp_user_timeout", "dbname",          nullptr};
std::array<const char*, kParameters> ValuesFor(const Secret& url) {
  return {"agentr", "10", "10", "5", "3", "30000", url.Reveal().c_str(), nullptr};
}

using PgConnection = std::unique_ptr<pg_conn, void (*)(pg_conn*)>;

PgConnection Connect(const Secret& url) {
  return {PQconnectdbParams(kNames.data(), ValuesFor(url).data(), /*expand_dbname=*/1), PQfinish};
}

SqlError Stopped() { return {"no answer while the run is being stopped", "", /*transient=*/true}; }

constexpr int kLookAgainMs = 100;

}  // namespace

PostgresConnection::PostgresConnection(const Secret& url, PostgresLimits limits)
    : url_(url), limits_(limits), connection_(nullptr, PQfinish) {
  // libpq's own form of connecting tries several hosts one after the other, which its asynchronous
  // form does not.
  StopTime stop(Interrupted(), limits_.stop_grace_s);
  auto made =
      WaitUnless<PgConnection>([url] { return Connect(url); }, [&] { return stop.Passed(); });
  if (!made) throw Stopped();
  connection_ = std::move(*made);
  if (connection_ == nullptr) throw std::bad_alloc();
  if (PQstatus(connection_.get()) != CONNECTION_OK) throw LastError(nullptr);
  PQsetnonblocking(connection_.get(), 1);
  PQsetNoticeProcessor(
      connection_.get(),
      [](void*, const char* notice) { spdlog::debug("PostgreSQL: {}", Message(notice)); }, nullptr);
}

SqlRows PostgresConnection::Query(const char* sql, const std::vector<SqlValue>& values,
                                  SqlFormat format) {
  std::vector<const char*> texts;
  std::vector<int> lengths, formats;
  for (const SqlValue& value : values) {
    texts.push_back(value.text().c_str());
    lengths.push_back(static_cast<int>(value.text().size()));  // of bytes; ignored for texts
    formats.push_back(value.is_bytes() ? 1 : 0);
  }
  const int sent = PQsendQueryParams(connection_.get(), sql, static_cast<int>(values.size()),
                                     nullptr, texts.data(), lengths.data(), formats.data(),
                                     format == SqlFormat::kBytes ? 1 : 0);
  return Receive(sent == 1);
}

void PostgresConnection::Execute(const std::string& statements) {
  Receive(PQsendQuery(connection_.get(), statements.c_str()) == 1);
}

SqlRows PostgresConnection::Receive(bool sent) {
  if (!sent) throw LastError(nullptr);
  SqlRows rows(nullptr);
  pg_result* last = nullptr;
  StopTime stop(Interrupted(), limits_.stop_grace_s);
  while (pg_result* const result = Await(stop)) rows = SqlRows(last = result);
  const ExecStatusType status = PQresultStatus(last);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw LastError(last);
  return rows;
}

// PQexec would wait for a silent server without end, and nothing could interrupt it.
pg_result* PostgresConnection::Await(StopTime& stop) {
  pg_conn* const connection = connection_.get();
  auto heard = std::chrono::steady_clock::now();
  while (true) {
    const int unsent = PQflush(connection);
    if (unsent < 0) throw LastError(nullptr);
    if (unsent == 0 && PQisBusy(connection) == 0) return PQgetResult(connection);
    const auto events = static_cast<short>(unsent == 0 ? POLLIN : POLLIN | POLLOUT);
    pollfd wanted{PQsocket(connection), events, 0};
    if (::poll(&wanted, 1, kLookAgainMs) > 0) {
      if (PQconsumeInput(connection) == 0) throw LastError(nullptr);
      heard = std::chrono::steady_clock::now();
    }
    if (stop.Passed()) throw Stopped();
    if (limits_.silent_s > 0 && SecondsSince(heard) > limits_.silent_s) {
      throw SqlError(fmt::format("no answer for {:g} s", limits_.silent_s), "", true);
    }
  }
}

SqlError PostgresConnection::LastError(const pg_result* result) const {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string code = state == nullptr ? "" : state;
  const bool lost = PQstatus(connection_.get()) != CONNECTION_OK;
  // libpq quotes parts of a URL that it cannot read.
  const std::string message = url_.WithoutIt(Message(PQerrorMessage(connection_.get())));
  return {message, code, lost || IsTransientState(code)};
}

std::string PostgresConnection::place() const {
  return fmt::format("{}:{}/{}", PQhost(connection_.get()), PQport(connection_.get()),
                     PQdb(connection_.get()));
}

bool IsStarting(const Secret& url, const PostgresLimits& limits) {
  const auto ping = [url] {
    return PQpingParams(kNames.data(), ValuesFor(url).data(), /*expand_dbname=*/1);
  };
  StopTime stop(Interrupted(), limits.stop_grace_s);
  return WaitUnless<PGPing>(ping, [&] { return stop.Passed(); }) == PQPING_REJECT;
}

}  // namespace agentr
