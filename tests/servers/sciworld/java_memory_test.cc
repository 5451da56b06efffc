// A process of its own: Java's heap is set once.
#include <gmock/gmock.h>

#include "servers/sciworld/sciworld.h"
#include "tests/servers/sciworld/java_setup.h"

namespace agentr {
namespace {

TEST(JavaMemory, OutOfMemoryIsAnErrorOfTheCall) {
  if (const std::string missing = testing::WhatIsMissing(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const auto source = StartScienceWorld({.class_path = testing::ScienceWorldJar(), .heap = "128m"});
  const SimulatorTask task{"boil", 0};
  std::vector<SciWorldEpisode> episodes;
  const auto fill = [&] {
    for (int i = 0; i < 100; ++i) episodes.emplace_back(*source, task);
  };
  std::string error;
  try {
    fill();
  } catch (const SimulatorError& thrown) {
    error = thrown.what();
  }
  EXPECT_THAT(error, ::testing::HasSubstr("java.lang.OutOfMemoryError"));
  EXPECT_GE(static_cast<int64_t>(episodes.size()), source->Use().most - 2)
      << "the limit of simulators is far from what the heap holds";
  const std::string first = episodes.front().last().observation;
  episodes.clear();
  EXPECT_EQ(source->Use().live, 0);
  SciWorldEpisode after(*source, task);
  EXPECT_EQ(after.last().observation, first);
}

}  // namespace
}  // namespace agentr
