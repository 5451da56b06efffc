#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "common/random.h"
#include "lm/kernels/block_panels.h"
#include "lm/kernels/kernels.h"
#include "lm/weights/half.h"
#include "lm/weights/quantised.h"

namespace agentr {
namespace {

std::vector<WeightType> QuantisedTypes() {
  std::vector<WeightType> types;
  for (const auto& [name, type] : kWeightTypes) {
    if (IsQuantised(type)) types.push_back(type);
  }
  return types;
}

struct Case {
  Simd simd;
  WeightType type;
};

class BlocksTest : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr int kInputs = 512, kOutputs = 48;

  // Random blocks with small factors; `bytes`: the value of all others, or random ones.
  std::vector<std::byte> Weights(std::optional<int> bytes = std::nullopt) {
    std::vector<std::byte> weights(BytesOf(type_, kInputs) * kOutputs);
    for (std::byte& byte : weights)
      byte = static_cast<std::byte>(bytes.value_or(stream_.Below(256)));
    for (size_t at = 0; at < weights.size(); at += BlockOf(type_).bytes) {
      const bool last = type_ == WeightType::kQ6_K;
      PutFactor(weights, at + (last ? 208 : 0));
      if (HasMin()) PutFactor(weights, at + 2);
    }
    return weights;
  }

  bool HasMin() const {
    return type_ == WeightType::kQ4_1 || type_ == WeightType::kQ5_1 || type_ == WeightType::kQ4_K ||
           type_ == WeightType::kQ5_K;
  }

  void PutFactor(std::vector<std::byte>& weights, size_t at) {
    const uint16_t factor = ToF16(static_cast<float>(stream_.Uniform() - 0.5) / 32);
    std::memcpy(weights.data() + at, &factor, sizeof factor);
  }

  std::vector<std::byte> Panels(const std::vector<std::byte>& weights) const {
    const int width = kernels_.block_columns;
    const int64_t bytes = BlockPanelBytes(type_, width, kInputs);
    std::vector<std::byte> panels(bytes * (kOutputs / width));
    for (int p = 0; p < kOutputs / width; ++p) {
      std::vector<const std::byte*> outputs;
      for (int c = 0; c < width; ++c) {
        outputs.push_back(weights.data() + (p * width + c) * BytesOf(type_, kInputs));
      }
      MakeBlockPanel(type_, width, outputs, kInputs, panels.data() + p * bytes);
    }
    return panels;
  }

  std::vector<float> Multiply(const std::vector<LeftBlock>& left, int first, int rows,
                              const std::vector<std::byte>& panels, float before = 0) const {
    std::vector<float> c(rows * kOutputs, before);
    const int blocks = kInputs / kLeftBlock;
    kernels_.multiply_blocks(
        type_, {.a = left.data() + first * blocks,
                .lda = blocks,
                .rows = rows,
                .b = panels.data(),
                .panel_bytes = BlockPanelBytes(type_, kernels_.block_columns, kInputs),
                .blocks = blocks,
                .c = c.data(),
                .ldc = kOutputs,
                .columns = kOutputs,
                .add = before != 0});
    return c;
  }

  // The product of what the left side and the weights stand for, in double.
  void ExpectProduct(const std::vector<LeftBlock>& left, int rows,
                     const std::vector<std::byte>& weights, const std::vector<float>& c,
                     float before = 0) const {
    std::vector<float> b(kInputs);
    for (int output = 0; output < kOutputs; ++output) {
      Dequantise(type_, weights.data() + output * BytesOf(type_, kInputs), kInputs, b.data());
      for (int r = 0; r < rows; ++r) {
        double sum = before, size = std::fabs(before);
        for (int k = 0; k < kInputs; ++k) {
          const LeftBlock& block = left[(r * kInputs + k) / kLeftBlock];
          const double term = static_cast<double>(block.scale) * block.q[k % kLeftBlock] * b[k];
          sum += term;
          size += std::fabs(term);
        }
        ASSERT_NEAR(c[r * kOutputs + output], sum, 1e-6 * size + 1e-12)
            << Name(type_) << " row " << r << " output " << output;
      }
    }
  }

  std::vector<LeftBlock> Quantised(const std::vector<float>& rows) const {
    std::vector<LeftBlock> left(rows.size() / kLeftBlock);
    kernels_.quantise_left(rows.data(), static_cast<int>(rows.size()), left.data());
    return left;
  }

  std::vector<LeftBlock> RandomLeft(int rows) {
    std::vector<float> values(rows * kInputs);
    for (float& value : values) value = static_cast<float>(stream_.Uniform() * 2 - 1);
    return Quantised(values);
  }

  const Kernels& kernels_ = KernelsOf(GetParam().simd);
  const WeightType type_ = GetParam().type;
  RandomStream stream_{5};
};

TEST_P(BlocksTest, MultiplyEqualsTheSumOfProducts) {
  const auto weights = Weights(), panels = Panels(weights);
  const auto left = RandomLeft(35);
  for (const int rows : {1, 2, 3, 4, 5, 13, 35}) {
    ExpectProduct(left, rows, weights, Multiply(left, 0, rows, panels));
  }
  for (const int rows : {2, 35}) {
    ExpectProduct(left, rows, weights, Multiply(left, 0, rows, panels, 3), 3);
  }
}

// The sums of whole numbers must not overflow: all values as large as they can be, with either
// sign.
TEST_P(BlocksTest, TheGreatestValuesDoNotOverflow) {
  for (const int byte : {0, 0x7F, 0x80, 0x81, 0xFF}) {
    const auto weights = Weights(byte), panels = Panels(weights);
    for (const int sign : {1, -1}) {
      std::vector<float> row(kInputs, static_cast<float>(sign));
      const auto left = Quantised(row);
      EXPECT_EQ(left[0].q[0], 127 * sign);
      ExpectProduct(left, 1, weights, Multiply(left, 0, 1, panels));
    }
  }
}

TEST_P(BlocksTest, ARowOfAProductIsTheSameBesideOthers) {
  const auto panels = Panels(Weights());
  const auto left = RandomLeft(40);
  const auto all = Multiply(left, 0, 40, panels);
  for (int rows = 1; rows < 40; ++rows) {
    const auto some = Multiply(left, 40 - rows, rows, panels);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.end() - rows * kOutputs)) << rows;
  }
}

TEST_P(BlocksTest, OutputsThatAreMissingAreZero) {
  const auto weights = Weights();
  const int width = kernels_.block_columns;
  std::vector<std::byte> panel(BlockPanelBytes(type_, width, kInputs) * kLanes / width);
  MakeBlockPanel(type_, width, {weights.data()}, kInputs, panel.data());
  const auto left = RandomLeft(1);
  std::vector<float> c(kLanes, 7);
  kernels_.multiply_blocks(type_, {.a = left.data(),
                                   .lda = 1,
                                   .rows = 1,
                                   .b = panel.data(),
                                   .panel_bytes = BlockPanelBytes(type_, width, kInputs),
                                   .blocks = kInputs / kLeftBlock,
                                   .c = c.data(),
                                   .ldc = kLanes,
                                   .columns = kLanes});
  EXPECT_NE(c[0], 0);
  for (int i = 1; i < kLanes; ++i) EXPECT_EQ(c[i], 0) << i;
}

// To the nearest of 255 steps; the sums are those of the whole numbers.
TEST_P(BlocksTest, QuantiseLeft) {
  for (const int n : {1, 31, 32, 33, 96}) {
    std::vector<float> x(n);
    for (float& value : x) value = static_cast<float>(stream_.Uniform() * 2 - 1);
    x[n / 2] = 0;
    std::vector<LeftBlock> blocks((n + 31) / 32 + 1);
    blocks.back().scale = 7;
    kernels_.quantise_left(x.data(), n, blocks.data());
    for (int b = 0; b * 32 < n; ++b) {
      const LeftBlock& block = blocks[b];
      const int end = std::min(n - b * 32, 32);
      float most = 0;
      for (int i = 0; i < end; ++i) most = std::max(most, std::fabs(x[b * 32 + i]));
      EXPECT_EQ(block.scale, most / 127);
      int sums[2] = {};
      for (int i = 0; i < 32; ++i) {
        const float value = i < end ? x[b * 32 + i] : 0;
        EXPECT_NEAR(block.q[i] * block.scale, value, block.scale * 0.501f);
        sums[i / 16] += block.q[i];
      }
      EXPECT_EQ(block.half_sums[0], sums[0]);
      EXPECT_EQ(block.half_sums[1], sums[1]);
      EXPECT_EQ(block.scaled_sum, block.scale * static_cast<float>(sums[0] + sums[1]));
    }
    EXPECT_EQ(blocks.back().scale, 7);
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Simd simd : AvailableSimd()) {
    for (const WeightType type : QuantisedTypes()) cases.push_back({simd, type});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Types, BlocksTest, ::testing::ValuesIn(Cases()), [](const auto& test) {
  return std::string(Name(test.param.simd)) + "_" + std::string(Name(test.param.type));
});

}  // namespace
}  // namespace agentr
