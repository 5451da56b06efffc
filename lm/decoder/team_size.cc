#include "lm/decoder/team_size.h"

#include <algorithm>
#include <bit>

namespace agentr {

TeamSize::TeamSize(int most) {
  for (int size = 1; size < most; size *= 2) sizes_.push_back(size);
  sizes_.push_back(most);
  for (Kind& kind : kinds_) kind.best = sizes_.size() - 1;
}

size_t TeamSize::KindOf(int64_t rows) {
  return std::min<size_t>(std::bit_width(static_cast<uint64_t>(rows)), 15);
}

size_t TeamSize::SizeOf(const Kind& kind) const {
  if (!kind.trying) return kind.best;
  return kind.up ? kind.best + 1 : kind.best - 1;
}

int TeamSize::Next(int64_t rows) const { return sizes_[SizeOf(kinds_[KindOf(rows)])]; }

void TeamSize::Took(int64_t rows, double seconds) {
  Kind& kind = kinds_[KindOf(rows)];
  kind.seconds += seconds / static_cast<double>(rows);
  if (++kind.steps == kBlock) EndBlock(kind);
}

void TeamSize::EndBlock(Kind& kind) {
  const double block = kind.seconds;
  kind.steps = 0;
  kind.seconds = 0;
  if (kind.trying) {
    kind.trying = false;
    kind.blocks = 0;
    if (block < kBetter * kind.usual) {
      kind.best = kind.up ? kind.best + 1 : kind.best - 1;
      kind.usual = block;
      kind.period = kPeriod;
    } else {
      kind.period = std::min(kind.period * 2, kMaxPeriod);
    }
    return;
  }
  // What has become slower is worth a trial soon.
  if (kind.usual > 0 && block > 1.5 * kind.usual) kind.period = 1;
  kind.usual = kind.usual > 0 ? 0.7 * kind.usual + 0.3 * block : block;
  if (++kind.blocks < kind.period || sizes_.size() == 1) return;
  kind.trying = true;
  if (kind.best == 0) {
    kind.up = true;
  } else if (kind.best + 1 == sizes_.size()) {
    kind.up = false;
  } else {
    kind.up = !kind.up;
  }
}

}  // namespace agentr
