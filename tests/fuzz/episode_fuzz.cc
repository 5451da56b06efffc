// Any text is either refused as an episode file, or gives an episode that is unchanged after
// writing and reading.
#include "common/error.h"
#include "eval/episode_file.h"
#include "tests/fuzz/fuzz_input.h"

using agentr::Check;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  agentr::StoredEpisode stored;
  try {
    stored = agentr::ReadEpisode(agentr::AsText(data, size), "fuzz");
  } catch (const agentr::FatalError&) {
    return 0;
  }
  Check(stored.episode.replayed_turns <= stored.episode.turns.size());
  const agentr::StoredEpisode again = agentr::ReadEpisode(agentr::WriteEpisode(stored), "again");
  Check(again.episode == stored.episode && again.options == stored.options);
  return 0;
}
