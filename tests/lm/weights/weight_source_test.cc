#include "lm/weights/weight_source.h"

#include <gmock/gmock.h>

#include <array>

#include "common/error.h"
#include "common/random.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::map<std::string, Weight> Some(std::span<const float> values) {
  return {{"a", {WeightType::kF32, {2, 2}, std::as_bytes(values.first(4))}},
          {"b", {WeightType::kBF16, {3}, std::as_bytes(values).last(6)}}};
}

TEST(WeightsInMemory, AreViews) {
  std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const WeightsInMemory source("the trainer", Some(values));
  EXPECT_EQ(source.name(), "the trainer");
  EXPECT_FALSE(source.immutable());
  EXPECT_EQ(source.weights().at("a").data.data(), std::as_bytes(std::span(values)).data());
  EXPECT_EQ(source.weights().at("b").shape, std::vector<int64_t>{3});
}

TEST(WeightsInMemory, OfAnotherSizeThanTheirShapeAreRefused) {
  const std::array<float, 6> values = {};
  auto weights = Some(values);
  weights.at("a").shape = {2, 3};
  try {
    const WeightsInMemory source("the trainer", weights);
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::kFile);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("the trainer"), HasSubstr("tensor a"),
                                    HasSubstr("24 bytes"), HasSubstr("16")));
  }
}

TEST(DescribeWeights, TellsNamesShapesTypesAndBytesApart) {
  std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const auto describe = [&](const std::map<std::string, Weight>& weights) {
    return DescribeWeights(WeightsInMemory("x", weights));
  };
  const std::string before = describe(Some(values));
  auto weights = Some(values);
  weights.at("a").shape = {4, 1};
  EXPECT_NE(describe(weights), before);
  weights = Some(values);
  weights.at("b").type = WeightType::kF16;
  EXPECT_NE(describe(weights), before);
  weights = Some(values);
  weights["c"] = weights.extract("a").mapped();
  EXPECT_NE(describe(weights), before);
  EXPECT_EQ(describe(Some(values)), before);
  values[3] = 4.5;
  EXPECT_NE(describe(Some(values)), before);
}

}  // namespace
}  // namespace agentr
