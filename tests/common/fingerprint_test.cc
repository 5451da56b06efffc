#include "common/fingerprint.h"

#include <gtest/gtest.h>

namespace agentr {
namespace {

struct Knobs {
  int steps = 3;
  double rate = 0.5;
  std::vector<std::string> parts = {"a", "b"};
  int threads = 1;
  std::string folder = "out";
};

void Declare(OptionSet& set, Knobs& o) {
  set.Add("--steps", o.steps, "Steps");
  set.Add("--rate", o.rate, "Rate").Range(0, 9);
  set.Add("--parts", o.parts, "Parts");
  set.Add("--threads", o.threads, "Threads").Min(1).OnlySpeed();
  set.Add("--folder", o.folder, "Folder").OnlyOutput();
}

TEST(FingerprintTest, HoldsWhatDeterminesTheResults) {
  EXPECT_EQ(FingerprintOf(Knobs{}).dump(), R"({"steps":3,"rate":0.5,"parts":["a","b"]})");
  EXPECT_EQ(ValuesText(FingerprintOf(Knobs{.rate = 2})), "3 2 a b");
}

TEST(FingerprintTest, HoldsWhatWasParsedAsLongAsItWas) {
  Knobs knobs;
  OptionSet set("p", "A program.");
  Declare(set, knobs);
  const char* const line[] = {"p", "--steps", "4", "--threads", "2"};
  ASSERT_EQ(set.Parse(5, line), std::nullopt);
  knobs.steps = 5;  // a program may settle a value later
  EXPECT_EQ(set.Fingerprint().dump(), R"({"steps":4,"rate":0.5,"parts":["a","b"]})");
}

TEST(FingerprintTest, ChangedOptionsAreThoseNotAtTheirDefaults) {
  EXPECT_EQ(ChangedOptions(Knobs{.rate = 1, .threads = 7}).dump(), R"({"rate":1.0})");
  EXPECT_TRUE(ChangedOptions(Knobs{}).empty());
}

}  // namespace
}  // namespace agentr
