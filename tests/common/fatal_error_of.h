#pragma once

#include <gtest/gtest.h>

#include <string>

#include "common/error.h"

namespace agentr {

// The message of the FatalError with this exit code that `body` has to throw.
template <typename Body>
std::string FatalErrorOf(ExitCode code, const Body& body) {
  try {
    body();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace agentr
