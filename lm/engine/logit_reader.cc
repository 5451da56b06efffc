#include "lm/engine/logit_reader.h"

#include <oneapi/tbb/parallel_for.h>

#include <exception>

#include "common/handoff.h"

namespace agentr {
namespace {

// Reading 100,000 logits takes about half a millisecond, so waking other threads pays off for more
// than two such rows.
constexpr size_t kLogitsOfOneThread = size_t{1} << 18;

}  // namespace

void LogitReader::Read(std::span<SequenceLogits> readings) {
  const auto read = [this](SequenceLogits& reading) {
    try {
      reading.sequence->ConsumeLogits(reading.rows, samplers_.local());
    } catch (const std::exception& exception) {
      reading.failure = exception.what();
    }
  };
  size_t logits = 0;
  for (const SequenceLogits& reading : readings) logits += reading.rows.size();
  if (logits <= kLogitsOfOneThread) {
    for (SequenceLogits& reading : readings) read(reading);
    return;
  }
  Handoff handoff;
  handoff.Give();
  oneapi::tbb::parallel_for(size_t{0}, readings.size(), [&](size_t i) {
    const HandoffScope scope(handoff);
    read(readings[i]);
  });
  handoff.Take();
}

}  // namespace agentr
