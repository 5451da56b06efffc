#include "common/error.h"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <system_error>

#include "common/text.h"

namespace agentr {

bool IsTransient(ErrorKind kind) {
  using enum ErrorKind;
  return kind == kUnreachable || kind == kTimeout || kind == kRateLimited || kind == kServer ||
         kind == kProtocol;
}

int RunMain(const std::function<ExitCode()>& body) noexcept {
  try {
    return static_cast<int>(body());
  } catch (const FatalError& error) {
    fmt::print(stderr, "error: {}\n", EscapeControls(error.what(), "\n"));
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {  // mostly from fmt::print
    fmt::print(stderr, "error: the system reports: {}\n", error.what());
    return static_cast<int>(ExitCode::kFile);
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}; please report it with the command line\n",
               EscapeControls(error.what(), "\n"));
    return static_cast<int>(ExitCode::kInternal);
  }
}

}  // namespace agentr
