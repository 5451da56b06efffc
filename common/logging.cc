#include "common/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, LogOptions& options) {
  set.Group("Logging");
  set.Add("--log_level", options.level, "What to log to stderr")
      .OneOf({"trace", "debug", "info", "warn", "error", "off"});
}

void InitLogging(const LogOptions& options) {
  auto logger =
      std::make_shared<spdlog::logger>("agentr", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  // On a terminal a log line first wipes the progress line, which is then drawn again below it.
  const char* wipe = ::isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "";
  logger->set_pattern(std::string(wipe) + "%H:%M:%S.%e %L %v");
  logger->set_level(spdlog::level::from_str(options.level));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace agentr
