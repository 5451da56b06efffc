#include "common/pcg64.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace agentr {
namespace {

using nlohmann::json;

json RngGolden() {
  return json::parse(std::ifstream(AGENTR_SOURCE_DIR "/tests/golden/rl/pcg64.json"));
}

// numpy's values for the seeds of the golden file.
TEST(Pcg64, DrawsWhatNumpyDraws) {
  int draws = 0;
  const json file = RngGolden();
  for (const auto& [seed_text, golden] : file.at("seeds").items()) {
    const uint64_t seed = std::stoull(seed_text);
    EXPECT_EQ(json(SeedWords(seed)), golden.at("words32")) << seed;
    const auto expect = [&](const std::string& name, auto draw) {
      Pcg64 random(seed);
      for (const json& value : golden.at(name)) {
        ASSERT_EQ(json(draw(random)), value) << "seed " << seed << ", " << name;
        ++draws;
      }
    };
    expect("u64", [](Pcg64& random) { return random.Next64(); });
    expect("u32", [](Pcg64& random) { return random.Next32(); });
    expect("double", [](Pcg64& random) { return random.Uniform(); });
    for (const auto& [name, values] : golden.items()) {
      if (!name.starts_with("int_")) continue;
      const size_t split = name.rfind('_');
      const int64_t low = std::stoll(name.substr(4, split - 4));
      const int64_t high = std::stoll(name.substr(split + 1));
      expect(name, [&](Pcg64& random) { return random.Integers(low, high); });
    }
  }
  EXPECT_EQ(draws, 6 * (3 * 20 + 8 * 20));
}

// Doubles between integers leave the kept half of a draw alone; a range of one value draws nothing.
TEST(Pcg64, MixedDrawsShareTheStreamAsInNumpy) {
  int draws = 0;
  const json file = RngGolden();
  for (const auto& [seed, golden] : file.at("seeds").items()) {
    Pcg64 random(std::stoull(seed));
    for (const json& draw : golden.at("mixed")) {
      const json drawn = draw.at(0) == "int" ? json(random.Integers(draw.at(1), draw.at(2)))
                                             : json(random.Uniform());
      ASSERT_EQ(drawn, draw.back()) << "seed " << seed << ", draw " << draws;
      ++draws;
    }
  }
  EXPECT_GT(draws, 100);
}

// A range so large that about half of all draws must be repeated, counted against numpy's.
TEST(Pcg64, LargeRangesAreWithoutBias) {
  const json file = RngGolden();
  for (const auto& [seed, golden] : file.at("large").items()) {
    Pcg64 random(std::stoull(seed));
    for (const json& value : golden) ASSERT_EQ(random.Integers(0, (int64_t{1} << 31) + 1), value);
  }
}

}  // namespace
}  // namespace agentr
