#include "common/error.h"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <system_error>

#include "common/secret.h"
#include "common/text.h"

namespace agentr {

bool IsTransient(ErrorKind kind) {
  using enum ErrorKind;
  return kind == kUnreachable || kind == kTimeout || kind == kRateLimited || kind == kServer ||
         kind == kProtocol;
}

namespace {

// The message may contain words of a user, a server or a library.
std::string Shown(const std::exception& error) {
  return EscapeControls(RedactSecrets(error.what()), "\n");
}

}  // namespace

int RunMain(const std::function<ExitCode()>& body) noexcept {
  try {
    return static_cast<int>(body());
  } catch (const FatalError& error) {
    fmt::print(stderr, "error: {}\n", Shown(error));
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {  // mostly from fmt::print
    fmt::print(stderr, "error: the system reports: {}\n", Shown(error));
    return static_cast<int>(ExitCode::kFile);
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}; please report it with the command line\n",
               Shown(error));
    return static_cast<int>(ExitCode::kInternal);
  }
}

}  // namespace agentr
