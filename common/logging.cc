#include "common/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "common/options.h"
#include "common/secret.h"
#include "common/text.h"

namespace agentr {
namespace {

// The message without secrets and with control characters escaped, because parts of it may come
// from a model, a server or a file.
class EscapedMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& to) override {
    const std::string_view said(message.payload.data(), message.payload.size());
    const std::string text = EscapeControls(RedactSecrets(said), "\n");
    to.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<EscapedMessage>();
  }
};

}  // namespace

void Declare(OptionSet& set, LogOptions& options) {
  set.Group("Logging");
  set.Add("--log_level", options.level, "What to log to stderr")
      .OneOf({"trace", "debug", "info", "warn", "error", "off"})
      .OnlyOutput();
}

void InitLogging(const LogOptions& options) {
  auto logger =
      std::make_shared<spdlog::logger>("agentr", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  // On a terminal a log line first erases the progress line, which is later redrawn below it.
  const char* wipe = ::isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "";
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<EscapedMessage>('*').set_pattern(std::string(wipe) + "%H:%M:%S.%e %L %*");
  logger->set_formatter(std::move(formatter));
  logger->set_level(spdlog::level::from_str(options.level));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace agentr
