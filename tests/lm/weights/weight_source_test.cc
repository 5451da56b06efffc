#include "lm/weights/weight_source.h"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/random.h"
#include "lm/weights/half.h"
#include "tests/common/file_faults.h"

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
  EXPECT_THAT(FileErrorOf([&] { const WeightsInMemory source("the trainer", weights); }),
              AllOf(HasSubstr("the trainer"), HasSubstr("tensor a"), HasSubstr("24 bytes"),
                    HasSubstr("16")));
}

// At any address, and in the last values, which fill no whole block.
TEST(CountNotFinite, CountsInfinitiesAndNoNumbersOfEveryType) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float bad[] = {kInfinity, -kInfinity, std::nanf(""), -std::nanf("1")};
  const float good[] = {0, -0.0f, 1e-45f, 65504, -3.3e38f};
  const auto count = [](WeightType type, const std::vector<float>& values) {
    std::vector<std::byte> bytes(1);  // so that the numbers begin at an odd address
    for (const float value : values) {
      const uint32_t wide = std::bit_cast<uint32_t>(value);
      const uint16_t half = type == WeightType::kBF16 ? ToBf16(value) : ToF16(value);
      // ToF16 has no infinities.
      const uint16_t narrow = type == WeightType::kF16 && std::isinf(value) ? 0x7C00 : half;
      const auto* from = type == WeightType::kF32 ? reinterpret_cast<const std::byte*>(&wide)
                                                  : reinterpret_cast<const std::byte*>(&narrow);
      bytes.insert(bytes.end(), from, from + Bytes(type));
    }
    return CountNotFinite(type, std::span(bytes).subspan(1));
  };
  for (const auto& [name, type] : kWeightTypes) {
    if (IsQuantised(type)) continue;
    std::vector<float> values;
    EXPECT_EQ(count(type, values), 0) << name;
    for (int i = 0; i < 700; ++i) values.insert(values.end(), std::begin(good), std::end(good));
    EXPECT_EQ(count(type, values), 0) << name;
    values.insert(values.begin() + 1023, std::begin(bad), std::end(bad));
    values.push_back(kInfinity);
    EXPECT_EQ(count(type, values), 5) << name;
  }
}

// Whole blocks of them: each factor is the first of its block's bytes but for Q6_K, or the second.
TEST(CountNotFinite, CountsBlocksWhoseFactorsAreNot) {
  for (const auto& [name, type] : kWeightTypes) {
    if (!IsQuantised(type)) continue;
    const auto [values, bytes] = BlockOf(type);
    const bool has_minimum = type == WeightType::kQ4_1 || type == WeightType::kQ5_1 ||
                             type == WeightType::kQ4_K || type == WeightType::kQ5_K;
    for (const int64_t factor : {int64_t{0}, int64_t{2}}) {
      if (factor == 2 && !has_minimum) continue;
      std::vector<std::byte> data(3 * bytes);
      EXPECT_EQ(CountNotFinite(type, data), 0) << name;
      const int64_t at = type == WeightType::kQ6_K ? bytes - 2 : factor;
      for (const uint16_t bad : {0x7C00, 0xFC00, 0x7E01}) {
        std::memcpy(data.data() + bytes + at, &bad, sizeof bad);
        EXPECT_EQ(CountNotFinite(type, data), values) << name;
      }
    }
  }
}

TEST(RequireFinite, NamesTheTensorAndTheCure) {
  std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const WeightsInMemory source("some/model", Some(values));
  EXPECT_NO_THROW(RequireFinite(source));
  values[1] = std::nanf("");
  values[2] = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(FileErrorOf([&] { RequireFinite(source); }),
              AllOf(HasSubstr("some/model: 2 of the 4 values of a are not finite"),
                    HasSubstr("Cure: another model")));
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
