// The common parts of main functions: declare and read the options, start the log, do the job or
// serve, and turn a FatalError into one line and an exit code (RunMain).
#pragma once

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>

#include "common/error.h"
#include "common/interrupt.h"
#include "common/logging.h"
#include "common/openmp_wait.h"
#include "common/options.h"
#include "common/simd.h"

namespace agentr {

// The name of a program and the texts of its --help.
struct ProgramText {
  const char* name;
  const char* description;  // first paragraph of --help
  const char* examples;     // last paragraph of --help
};

// Reads the command line into `options`, each of which has a Declare function, then calls job(const
// OptionSet&) -> ExitCode.
template <typename Job, typename... Options>
int RunWithOptions(int argc, char** argv, const ProgramText& text, Job job, Options&... options) {
  return RunMain([&] {
    LogOptions log;
    SimdOptions simd;
    OptionSet set(text.name, text.description, text.examples);
    (Declare(set, options), ...);
    Declare(set, simd);
    Declare(set, log);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    ShortenOpenMpWaiting(argv);
    InitLogging(log);
    SetSimd(simd.level);
    spdlog::info("{} {}, instruction set {}", text.name, AGENTR_VERSION, DescribeProcessor());
    return job(set);
  });
}

// Starts a server, prints its address and summary, and stops it within two seconds when SIGINT or
// SIGTERM comes: replies that need longer are cut off, because a server has nothing to save. A
// signal during the start ends the program at once. `start` returns the running server in a
// unique_ptr.
template <typename Start>
ExitCode ServeUntilSignal(const Start& start) {
  const auto server = start();
  fmt::print("{} ({})\n", server->base_url(), server->Summary());
  std::fflush(stdout);
  WaitForSignal();
  EndAtLatestIn(std::chrono::milliseconds(1500), ExitCode::kOk);
  return ExitCode::kOk;
}

}  // namespace agentr
