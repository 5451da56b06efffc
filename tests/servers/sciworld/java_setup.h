// The real simulator, for tests; they are skipped where it is missing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "servers/sciworld/java_simulator.h"
#include "servers/sciworld/libjvm_path.h"
#include "servers/sciworld/sciworld_server.h"

namespace agentr::testing {

inline std::string ScienceWorldJar() {
  const char* const named = std::getenv("SCIENCEWORLD_JAR");
  return named != nullptr ? named : CachedScienceWorldJar().string();
}

// Why the simulator cannot run here; "" where it can.
inline std::string WhatIsMissing() {
  if (!AGENTR_HAS_JAVA) return "built without Java: scripts/setup.sh --sciworld, then build again";
  if (!FindLibJvm(JavaPlaces::OfEnvironment())) return "no Java: scripts/setup.sh --sciworld";
  if (std::filesystem::exists(ScienceWorldJar())) return "";
  return ScienceWorldJar() + " is missing: scripts/setup.sh --sciworld";
}

class WithScienceWorld : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = WhatIsMissing(); !missing.empty()) GTEST_SKIP() << missing;
    source_ = StartScienceWorld({.class_path = ScienceWorldJar(), .heap = "1g"});
  }

  std::unique_ptr<SimulatorSource> source_;
};

}  // namespace agentr::testing
