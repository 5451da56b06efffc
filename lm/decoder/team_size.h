// How many threads a step of the model takes, by what steps with so many threads have cost.
//
// More threads are not always faster: beside other busy processes a step waits for whichever thread
// the system has put aside, and a step of a small model is shorter than the time to wake a thread.
// So from time to time a few steps are computed with half or twice as many threads, and the faster
// number stays. Results do not depend on the number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace agentr {

// One thread at a time.
class TeamSize {
 public:
  explicit TeamSize(int most);  // at least 1

  // The threads for a step of so many rows, from 1 to `most`.
  int Next(int64_t rows) const;
  // What the step that Next was asked for has taken.
  void Took(int64_t rows, double seconds);

 private:
  // Steps of about as many rows.
  struct Kind {
    size_t best = 0;       // index into sizes_
    bool trying = false;   // another size
    bool up = false;       // the size that is tried is the greater neighbour
    int steps = 0;         // of the present block
    double seconds = 0;    // of them
    double usual = 0;      // of a block with the best size; 0: unknown
    int blocks = 0;        // with the best size since the last trial
    int period = kPeriod;  // blocks from trial to trial
  };
  static constexpr int kBlock = 8;  // steps whose time is compared
  static constexpr int kPeriod = 16, kMaxPeriod = 256;
  static constexpr double kBetter = 0.95;  // less would be chance

  static size_t KindOf(int64_t rows);
  size_t SizeOf(const Kind& kind) const;
  void EndBlock(Kind& kind);

  std::vector<int> sizes_;  // 1, 2, 4 … and `most`
  std::array<Kind, 16> kinds_;
};

}  // namespace agentr
