// The FatalErrors that a test provokes.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "common/error.h"

namespace agentr {

// The message of the FatalError with `code` that `body` throws; "" if it throws none.
template <typename Body>
std::string FatalErrorOf(ExitCode code, const Body& body) {
  try {
    body();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

// The message of the FatalError(kFile) that `body` has to throw.
template <typename Body>
std::string FileErrorOf(const Body& body) {
  std::string message = FatalErrorOf(ExitCode::kFile, body);
  EXPECT_NE(message, "") << "no error";
  return message;
}

}  // namespace agentr
