#include "common/python_random.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "common/hash.h"

namespace agentr {
namespace {

using nlohmann::json;

json PythonRandomGolden() {
  return json::parse(std::ifstream(AGENTR_SOURCE_DIR "/tests/golden/python_random.json"));
}

// The list as the golden file writes it: in full, or both ends and a hash.
json Written(const std::vector<size_t>& values, const json& expected) {
  if (expected.is_array()) return values;
  const size_t n = values.size();
  return {{"first", std::vector<size_t>(values.begin(), values.begin() + 5)},
          {"last",
           std::vector<size_t>(values.begin() + static_cast<std::ptrdiff_t>(n) - 5, values.end())},
          {"sha256", Sha256(fmt::format("{}", fmt::join(values, ",")))}};
}

json Call(PythonRandom& random, const std::string& name, const json& arguments,
          const json& expected) {
  if (name == "random") return random.Random();
  if (name == "getrandbits") return random.GetRandBits(arguments.at(0).get<int>());
  if (name == "below") return random.Below(arguments.at(0).get<uint64_t>());
  if (name == "sample") {
    return Written(random.Sample(arguments.at(0).get<size_t>(), arguments.at(1).get<size_t>()),
                   expected);
  }
  EXPECT_EQ(name, "shuffle");
  std::vector<size_t> items(arguments.at(0).get<size_t>());
  std::iota(items.begin(), items.end(), size_t{0});
  random.Shuffle(items);
  return Written(items, expected);
}

TEST(PythonRandom, DrawsWhatPythonDraws) {
  int calls = 0;
  const json golden = PythonRandomGolden();
  for (const json& run : golden.at("seeds")) {
    PythonRandom random(run.at("seed").get<uint64_t>());
    for (const json& draw : run.at("draws")) {
      ASSERT_EQ(Call(random, draw.at(0), draw.at(1), draw.at(2)), draw.at(2))
          << "seed " << run.at("seed") << ", " << draw.at(0) << draw.at(1);
      ++calls;
    }
  }
  EXPECT_EQ(calls, 410);
}

TEST(PythonRandom, ShufflesWhateverItHolds) {
  std::vector<std::string> words = {"a", "b", "c", "d"};
  PythonRandom random(233);
  random.Shuffle(words);
  std::vector<int> numbers = {0, 1, 2, 3};
  PythonRandom again(233);
  again.Shuffle(numbers);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(words[i][0] - 'a', numbers[i]);
}

}  // namespace
}  // namespace agentr
