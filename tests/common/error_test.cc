#include "common/error.h"

#include <gmock/gmock.h>

#include <system_error>

namespace agentr {
namespace {

using ::testing::HasSubstr;

struct Ended {
  int code;
  std::string stderr_text;
};

Ended EndOf(const std::function<ExitCode()>& body) {
  testing::internal::CaptureStderr();
  const int code = RunMain(body);
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(RunMain, PassesTheExitCodeOn) {
  EXPECT_EQ(EndOf([] { return ExitCode::kOk; }).code, 0);
  const Ended ended = EndOf([] { return ExitCode::kIncomplete; });
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.stderr_text, "");
}

TEST(RunMain, TellsAFatalErrorInOneLine) {
  const Ended ended =
      EndOf([]() -> ExitCode { throw FatalError(ExitCode::kFile, "cannot read x: why"); });
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.stderr_text, "error: cannot read x: why\n");
}

TEST(RunMain, WhatTheSystemRefusesIsNoBug) {
  const Ended ended = EndOf([]() -> ExitCode {
    throw std::system_error(std::make_error_code(std::errc::no_space_on_device), "cannot write");
  });
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.stderr_text, HasSubstr("cannot write"));
}

TEST(RunMain, OtherExceptionsAreBugs) {
  const Ended ended = EndOf([]() -> ExitCode { throw std::logic_error("boom"); });
  EXPECT_EQ(ended.code, 70);
  EXPECT_THAT(ended.stderr_text, HasSubstr("boom"));
  EXPECT_THAT(ended.stderr_text, HasSubstr("report"));
}

TEST(Error, OnlyWhatMayPassIsTransient) {
  for (const ErrorKind kind : {ErrorKind::kUnreachable, ErrorKind::kTimeout,
                               ErrorKind::kRateLimited, ErrorKind::kServer}) {
    EXPECT_TRUE(IsTransient(kind)) << Name(kind);
  }
  for (const ErrorKind kind : {ErrorKind::kEnvironment, ErrorKind::kRejected,
                               ErrorKind::kContextLength, ErrorKind::kCancelled}) {
    EXPECT_FALSE(IsTransient(kind)) << Name(kind);
  }
}

TEST(Error, ResultsCarryKindAndMessage) {
  const Result<int> result = Fail(ErrorKind::kTimeout, "no reply in 5 s");
  ASSERT_FALSE(result);
  EXPECT_EQ(Name(result.error().kind), "timeout");
  EXPECT_EQ(result.error().message, "no reply in 5 s");
}

}  // namespace
}  // namespace agentr
