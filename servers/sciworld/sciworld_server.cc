#include "servers/sciworld/sciworld_server.h"

#include <fmt/format.h>

#include <regex>

#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/installed_file.h"
#include "common/options.h"
#include "servers/sciworld/java_simulator.h"
#include "servers/sciworld/sciworld_service.h"

namespace agentr {
namespace {

std::filesystem::path JarOf(const SciWorldOptions& options) {
  const std::filesystem::path jar =
      options.jar.empty() ? CachedScienceWorldJar() : std::filesystem::path(options.jar);
  if (std::filesystem::is_regular_file(jar)) return jar;
  throw FatalError(
      ExitCode::kFile,
      fmt::format(
          "{}: there is no such file, but SciWorld needs the simulator's jar. Run scripts/setup.sh "
          "--sciworld, which downloads it; env_server also takes --scienceworld_jar",
          jar.string()));
}

void CheckHeap(const std::string& heap) {
  static const std::regex kSize("[1-9][0-9]*[kKmMgG]?");
  if (std::regex_match(heap, kSize)) return;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--jvm_heap {} is not a size; write it like 4g or 512m", heap));
}

// In another version of the simulator the published ids would mean other tasks.
void CheckTasks(SimulatorSource& source, const std::string& jar) {
  for (const SimulatorTaskType& type : SimulatorTaskTypes()) {
    const int variations = source.Variations(type.name);
    if (variations == type.variations) continue;
    throw FatalError(
        ExitCode::kFile,
        fmt::format("{}: the simulator has {} variations of {}, but version 1.2.3 has {}; run "
                    "scripts/setup.sh --sciworld, which downloads that version",
                    jar, variations, type.name, type.variations));
  }
}

}  // namespace

void Declare(OptionSet& set, SciWorldOptions& options) {
  set.Group("SciWorld");
  set.Add("--scienceworld_jar", options.jar,
          "Jar of ScienceWorld 1.2.3 (default: where scripts/setup.sh --sciworld stores it)",
          "SCIENCEWORLD_JAR");
  set.Add("--jvm_heap", options.heap, "Largest size of Java's heap; a session takes 11 MB of it")
      .OnlySpeed();
}

std::filesystem::path CachedScienceWorldJar() { return CacheFolder() / "scienceworld-1.2.3.jar"; }

std::unique_ptr<EnvService> MakeSciWorldService(const SciWorldOptions& options,
                                                SessionLimits limits, bool extensions) {
  CheckHeap(options.heap);
  const std::string jar = JarOf(options).string();
  auto source = StartScienceWorld({.class_path = jar, .heap = options.heap});
  try {
    CheckTasks(*source, jar);
  } catch (const SimulatorError& error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: the simulator fails: {}", jar, error.what()));
  }
  return std::make_unique<SciWorldService>(std::move(source), Sha256(ReadFile(jar)), limits,
                                           extensions);
}

}  // namespace agentr
