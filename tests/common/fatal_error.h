// The FatalErrors that a test provokes.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "common/error.h"

namespace agentr {

// The message of the FatalError, or of the kind of it that is named, that `body` throws; "" if it
// throws none.
template <typename Kind = FatalError, typename Body>
std::string FatalErrorOf(const Body& body) {
  try {
    body();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

// The same of an error that must have this exit code.
template <typename Kind = FatalError, typename Body>
std::string FatalErrorOf(ExitCode code, const Body& body) {
  return FatalErrorOf<Kind>([&] {
    try {
      body();
    } catch (const Kind& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      throw;
    }
  });
}

// The message of the FatalError(kFile) that `body` has to throw.
template <typename Body>
std::string FileErrorOf(const Body& body) {
  std::string message = FatalErrorOf(ExitCode::kFile, body);
  EXPECT_NE(message, "") << "no error";
  return message;
}

}  // namespace agentr
