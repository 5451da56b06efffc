// What the errors say that a test expects.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "common/error.h"

namespace agentr {

// What FatalError, or the kind of it that is wanted, says; "no error" without one. `code`: that it
// must have.
template <typename Kind = FatalError>
std::string FatalMessage(const std::function<void()>& act,
                         std::optional<ExitCode> code = std::nullopt) {
  try {
    act();
  } catch (const Kind& error) {
    EXPECT_EQ(error.code(), code.value_or(error.code())) << error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace agentr
