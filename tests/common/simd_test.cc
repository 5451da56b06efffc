#include "common/simd.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "common/error.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

class SimdTest : public ::testing::Test {
 protected:
  SimdTest() {
    if (const char* now = std::getenv("AGENTR_SIMD")) before_ = now;
  }
  ~SimdTest() override {
    ::setenv("AGENTR_SIMD", before_.c_str(), 1);
    SetSimd("auto");
  }
  std::string before_;
};

TEST_F(SimdTest, EveryLevelOfTheProcessorCanBeSetByName) {
  ASSERT_FALSE(AvailableSimd().empty());
  for (const Simd level : AvailableSimd()) {
    SetSimd(std::string(Name(level)));
    EXPECT_EQ(ActiveSimd(), level);
    EXPECT_TRUE(DescribeProcessor().starts_with(std::string(Name(level)) + " ("));
  }
}

TEST_F(SimdTest, AutoIsTheFastestOrThatOfTheEnvironment) {
  ::setenv("AGENTR_SIMD", "", 1);
  SetSimd("auto");
  EXPECT_EQ(ActiveSimd(), AvailableSimd().back());
  ::setenv("AGENTR_SIMD", "portable", 1);
  SetSimd("auto");
  EXPECT_EQ(ActiveSimd(), Simd::kPortable);
  SetSimd(std::string(Name(AvailableSimd().back())));
  EXPECT_EQ(ActiveSimd(), AvailableSimd().back());
}

TEST_F(SimdTest, LevelsOfOtherProcessorsAreRefusedWithThoseThatThereAre) {
  const auto message = [](const std::string& level) {
    return FatalErrorOf(ExitCode::kUsage, [&] { SetSimd(level); });
  };
#if defined(__x86_64__)
  const std::string foreign = "neon";
#else
  const std::string foreign = "avx2";
#endif
  const std::string refused = message(foreign);
  EXPECT_NE(refused.find("--simd " + foreign), std::string::npos) << refused;
  EXPECT_NE(refused.find("portable"), std::string::npos) << refused;
  ::setenv("AGENTR_SIMD", "sse9", 1);
  EXPECT_NE(message("auto").find("AGENTR_SIMD sse9"), std::string::npos);
}

}  // namespace
}  // namespace agentr
