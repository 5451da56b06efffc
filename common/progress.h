// A progress line on stderr for a run over many tasks: done/total, rate, ETA, errors. On a terminal
// it is redrawn in place; elsewhere a plain line is printed once a minute. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace agentr {

// The state of a run at one moment, separate from the drawing so that the text can be tested.
struct ProgressState {
  int64_t total = 0;
  int64_t done = 0;     // finished without an error
  int64_t failed = 0;   // finished with an error
  int64_t skipped = 0;  // needed no work; not counted in the rate
  int64_t units = 0;    // smaller pieces of work, such as tree nodes
  double part = 0;      // of the items in progress, what is finished: 0.5 of one item
  double elapsed_s = 0;
  std::string note = "";  // a short text of the run about its results so far
};

// "trees 12/200 6% | 3.1/s | 140 nodes/s | ETA 1:01 | 2 errors | NOTE". ETA is "-" before the first
// result or part of one.
std::string ProgressText(const std::string& label, const std::string& unit,
                         const ProgressState& state);

// "1:02:03", "4:05" (rounded up to whole seconds).
std::string FormatDuration(double seconds);

class Progress {
 public:
  // `label` and `unit` as in ProgressText. Nothing is drawn when `total` is 0.
  Progress(std::string label, std::string unit, int64_t total);
  ~Progress();  // draws the last state and ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Done() {
    ++done_;
    part_ = 0;
  }
  void Failed() {
    ++failed_;
    part_ = 0;
  }
  void Skipped() { ++skipped_; }
  // How far the item in progress is, from 0 to 1; Done and Failed begin with 0 again.
  void Part(double part) { part_ = part; }
  void AddUnits(int64_t count) { units_ += count; }
  void Note(std::string note);

  ProgressState Now() const;

 private:
  void Draw(bool last);
  void Loop(const std::stop_token& stop);

  const std::string label_;
  const std::string unit_;
  const int64_t total_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<double> part_ = 0;
  std::atomic<int64_t> done_ = 0, failed_ = 0, skipped_ = 0, units_ = 0;

  mutable std::mutex mutex_;
  std::string note_;  // guarded by mutex_
  std::jthread drawer_;
};

}  // namespace agentr
