#pragma once

#include <gtest/gtest.h>

#include <string>

#include "common/error.h"

namespace agentr {

// The message of the FatalError with this code that `body` throws, or "no error".
template <typename Body>
std::string FatalErrorOf(ExitCode code, const Body& body) {
  try {
    body();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

}  // namespace agentr
