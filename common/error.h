// Errors come on three channels:
//   - Result<T> for what will happen in a long run (a server drops a call, a reply is malformed);
//   - FatalError, one exception with an exit code, for a bad configuration or file: thrown at
//     start-up or when a result cannot be written, caught once, in RunMain;
//   - assert for bugs.
// A message says what failed, where, and the usual cure.
#pragma once

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "common/named_values.h"

namespace agentr {

// How a call outside the process failed. The kind decides whether trying again can help.
enum class ErrorKind {
  kUnreachable,    // no connection, or it broke before a whole reply came
  kTimeout,        // no reply in time
  kRateLimited,    // 429, or a server says it is overloaded
  kServer,         // HTTP 5xx
  kProtocol,       // a reply that does not follow the protocol
  kMalformed,      // a whole reply of an environment's server of another shape than the protocol's:
                   // all its replies will be like that
  kEnvironment,    // the environment itself answered with an error
  kSessionLost,    // the state of the session is unknown, because its server forgot it or the reply
                   // to a step was lost; Reset it
  kRejected,       // HTTP 4xx: the request is wrong; trying again cannot help
  kContextLength,  // a prompt longer than the model's context
  kCancelled,      // the run is being stopped
};

// For messages and counters.
inline constexpr std::array<NamedValue<ErrorKind>, 11> kErrorKinds = {
    {{"unreachable", ErrorKind::kUnreachable},
     {"timeout", ErrorKind::kTimeout},
     {"rate limited", ErrorKind::kRateLimited},
     {"server", ErrorKind::kServer},
     {"protocol", ErrorKind::kProtocol},
     {"malformed", ErrorKind::kMalformed},
     {"environment", ErrorKind::kEnvironment},
     {"session lost", ErrorKind::kSessionLost},
     {"rejected", ErrorKind::kRejected},
     {"context length", ErrorKind::kContextLength},
     {"cancelled", ErrorKind::kCancelled}}};
constexpr std::string_view Name(ErrorKind kind) { return NameOf(kErrorKinds, kind); }

struct Error {
  ErrorKind kind = ErrorKind::kProtocol;
  std::string message;
  double retry_after_s = 0;  // what the server asked for (Retry-After), seconds; 0 if nothing
};

// True for the kinds where the same call may succeed a moment later. Only the client that made the
// call repeats it (CONTRIBUTING, "Retries").
bool IsTransient(ErrorKind kind);

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::make_unexpected(Error{kind, std::move(message)});
}

// Hands an error on: if the given Result is an error, returns it from the enclosing function, which
// must return a Result too. A value in the Result is ignored.
//   AGENTR_RETURN_IF_ERROR(session.Reset(task_id));
#define AGENTR_RETURN_IF_ERROR(...)                           \
  do {                                                        \
    if (auto&& agentr_result = (__VA_ARGS__); !agentr_result) \
      return tl::make_unexpected(agentr_result.error());      \
  } while (false)

// The same for an error; a value is assigned to `target`, which may declare a variable. It expands
// to several statements, so an `if` around it needs braces.
//   AGENTR_ASSIGN_OR_RETURN(const double reward, Field<double>(object, "reward"));
#define AGENTR_ASSIGN_OR_RETURN(target, ...) \
  AGENTR_ASSIGN_OR_RETURN_AS(AGENTR_JOIN(agentr_result_, __LINE__), target, __VA_ARGS__)
#define AGENTR_ASSIGN_OR_RETURN_AS(result, target, ...)    \
  auto result = (__VA_ARGS__);                             \
  if (!result) return tl::make_unexpected(result.error()); \
  target = *std::move(result)
#define AGENTR_JOIN(a, b) AGENTR_JOIN_EXPANDED(a, b)
#define AGENTR_JOIN_EXPANDED(a, b) a##b

// Exit codes of every program.
enum class ExitCode : int {
  kOk = 0,
  kIncomplete = 1,   // some tasks failed; run again to retry them
  kUsage = 2,        // a bad flag, option or configuration
  kFile = 3,         // a file or folder cannot be read or written
  kUnavailable = 4,  // a server or model that the run needs does not answer
  kInternal = 70,    // a bug
  kInterrupted = 130,
};

class FatalError : public std::runtime_error {
 public:
  FatalError(ExitCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Runs `body` and turns what it throws into one line on stderr and an exit code.
int RunMain(const std::function<ExitCode()>& body) noexcept;

}  // namespace agentr
