#include "common/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "common/stoppable_sleep.h"

namespace agentr {
namespace {
constexpr std::chrono::milliseconds kTerminalInterval(200);
constexpr std::chrono::seconds kPlainInterval(60);
}  // namespace

std::string FormatDuration(double seconds) {
  const auto s = static_cast<int64_t>(std::ceil(seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string ProgressText(const std::string& label, const std::string& unit,
                         const ProgressState& state) {
  const int64_t worked = state.done + state.failed;
  const int64_t finished = worked + state.skipped;
  const int64_t percent = state.total > 0 ? finished * 100 / state.total : 100;
  const double seconds = std::max(state.elapsed_s, 1e-9);
  const double rate = static_cast<double>(worked) / seconds;
  const double made = static_cast<double>(worked) + state.part;
  const double left = static_cast<double>(state.total - finished) - state.part;
  const std::string eta = made > 0 ? FormatDuration(left * seconds / made) : "-";
  std::string text =
      fmt::format("{} {}/{} {}% | {:.3g}/s", label, finished, state.total, percent, rate);
  if (!unit.empty())
    text += fmt::format(" | {:.0f} {}/s", static_cast<double>(state.units) / seconds, unit);
  text += fmt::format(" | ETA {}", eta);
  if (state.failed > 0)
    text += fmt::format(" | {} error{}", state.failed, state.failed == 1 ? "" : "s");
  if (!state.note.empty()) text += " | " + state.note;
  return text;
}

Progress::Progress(std::string label, std::string unit, int64_t total)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(::isatty(STDERR_FILENO) != 0) {
  if (total_ > 0) drawer_ = std::jthread([this](const std::stop_token& stop) { Loop(stop); });
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  drawer_.request_stop();
  drawer_.join();
  Draw(/*last=*/true);
}

void Progress::Note(std::string note) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(note);
}

ProgressState Progress::Now() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  const std::lock_guard lock(mutex_);
  return {total_, done_, failed_, skipped_, units_, part_, elapsed.count(), note_};
}

void Progress::Draw(bool last) {
  const std::string text = ProgressText(label_, unit_, Now());
  if (terminal_) {
    fmt::print(stderr, "\r\x1b[K{}{}", text, last ? "\n" : "");
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  std::fflush(stderr);
}

void Progress::Loop(const std::stop_token& stop) {
  const std::chrono::milliseconds interval = terminal_ ? kTerminalInterval : kPlainInterval;
  while (SleepUnlessStopped(stop, interval)) Draw(/*last=*/false);
}

}  // namespace agentr
