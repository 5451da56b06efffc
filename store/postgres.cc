#include "store/postgres.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <spdlog/spdlog.h>

#include <array>
#include <charconv>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/text.h"

namespace agentr {
namespace {

// What libpq writes, on one line: its lines after the first are details.
std::string Message(const char* text) {
  return OneLine(std::string(Trim(text == nullptr ? "" : text)));
}

// SQLSTATEs (PostgreSQL's manual, appendix A) after which the same statement may succeed: connection
// lost, server stopped, crashed or starting, too many connections, serialisation, deadlock.
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

PostgresConnection::PostgresConnection(const std::string& url) : connection_(nullptr, PQfinish) {
  // Words after "dbname" would take precedence over the URL.
  const std::array<const char*, 8> names = {
      "fallback_application_name", "connect_timeout",  "keepalives_idle", "keepalives_interval",
      "keepalives_count",          "tcp_user_timeout", "dbname",          nullptr};
  const std::array<const char*, 8> values = {"agentr", "10",    "10",        "5",
                                             "3",      "30000", url.c_str(), nullptr};
  connection_.reset(PQconnectdbParams(names.data(), values.data(), /*expand_dbname=*/1));
  if (connection_ == nullptr) throw std::bad_alloc();
  if (PQstatus(connection_.get()) != CONNECTION_OK) throw LastError(nullptr);
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
  pg_result* const result =
      PQexecParams(connection_.get(), sql, static_cast<int>(values.size()), nullptr, texts.data(),
                   lengths.data(), formats.data(), format == SqlFormat::kBytes ? 1 : 0);
  return Checked(result);
}

void PostgresConnection::Execute(const std::string& statements) {
  Checked(PQexec(connection_.get(), statements.c_str()));
}

SqlRows PostgresConnection::Checked(pg_result* result) {
  SqlRows rows(result);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw LastError(result);
  return rows;
}

SqlError PostgresConnection::LastError(const pg_result* result) const {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string code = state == nullptr ? "" : state;
  const bool lost = PQstatus(connection_.get()) != CONNECTION_OK;
  return {Message(PQerrorMessage(connection_.get())), code, lost || IsTransientState(code)};
}

std::string PostgresConnection::place() const {
  return fmt::format("{}:{}/{}", PQhost(connection_.get()), PQport(connection_.get()),
                     PQdb(connection_.get()));
}

bool IsStarting(const std::string& url) { return PQping(url.c_str()) == PQPING_REJECT; }

}  // namespace agentr
