#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "common/error.h"

namespace agentr {

// Expects an error of this kind, with each of `words` in its message.
template <typename R, typename... Words>
void ExpectError(const R& result, ErrorKind kind, const Words&... words) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, kind) << result.error().message;
  for (const std::string& one : std::initializer_list<std::string>{words...}) {
    EXPECT_THAT(result.error().message, ::testing::HasSubstr(one));
  }
}

}  // namespace agentr
