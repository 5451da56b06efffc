#include "lm/decoder/kv_pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/random.h"
#include "lm/weights/half.h"

namespace agentr {
namespace {

constexpr int kWidth = 24, kPositions = 77, kHeads = 3;

// What a pool of this type keeps of a key or a value.
std::vector<float> Kept(WeightType type, const std::vector<float>& x) {
  float most = 0;
  for (const float value : x) most = std::max(most, std::fabs(value));
  std::vector<float> kept;
  for (const float value : x) {
    if (type == WeightType::kF32) kept.push_back(value);
    if (type == WeightType::kF16) kept.push_back(FromF16(ToF16(value)));
    if (type == WeightType::kBF16) kept.push_back(FromBf16(ToBf16(value)));
    if (type == WeightType::kQ8_0) {
      kept.push_back(most > 0 ? std::rint(value * (127 / most)) * (most / 127) : 0);
    }
  }
  return kept;
}

class KvPoolTest : public ::testing::TestWithParam<std::pair<Simd, WeightType>> {
 protected:
  KvPoolTest() {
    config_.num_layers = 2;
    config_.num_kv_heads = 2;
    config_.head_dim = kWidth;
  }

  std::vector<float> Random(size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(stream_.Uniform() * 2 - 1);
    return values;
  }

  const WeightType type_ = GetParam().second;
  RandomStream stream_{3};
  ModelConfig config_;
};

// Attention of one token over what was written, in blocks out of order.
TEST_P(KvPoolTest, AttentionReadsWhatWasWritten) {
  KvPool pool(config_, type_, 1 << 20);
  const std::vector<int32_t> table = {3, 0, 5};
  std::vector<std::vector<float>> keys, values;
  for (int position = 0; position < kPositions; ++position) {
    const auto key = Random(kWidth),
               value = position == 9 ? std::vector<float>(kWidth) : Random(kWidth);
    keys.push_back(Kept(type_, key));
    values.push_back(Kept(type_, value));
    pool.Write(table[position / kKeyBlock], /*layer=*/1, /*head=*/1, position % kKeyBlock,
               key.data(), value.data());
  }
  pool.Copy(5, 6);
  const std::vector<int32_t> copied = {3, 0, 6};
  const auto queries = Random(kHeads * kWidth);
  std::vector<float> mixed(queries.size());
  AttentionTask task;
  task.type = type_;
  const AttentionToken token = {queries.data(), copied.data(), kPositions - 1};
  task.tokens = {&token, 1};
  task.mixed = mixed.data();
  task.heads = kHeads;
  task.head_dim = kWidth;
  task.keys = pool.Keys(1, 1);
  task.values = pool.Values(1, 1);
  task.block_bytes = pool.block_bytes();
  KernelsOf(GetParam().first).attend(task);
  for (int head = 0; head < kHeads; ++head) {
    double total = 0;
    std::vector<double> sums(kWidth, 0);
    for (int position = 0; position < kPositions; ++position) {
      double score = 0;
      for (int d = 0; d < kWidth; ++d) score += queries[head * kWidth + d] * keys[position][d];
      const double share = std::exp(score / std::sqrt(kWidth));
      total += share;
      for (int d = 0; d < kWidth; ++d) sums[d] += share * values[position][d];
    }
    for (int d = 0; d < kWidth; ++d) {
      EXPECT_NEAR(mixed[head * kWidth + d], sums[d] / total,
                  type_ == WeightType::kBF16 ? 1e-2 : 2e-6)
          << head << " " << d;
    }
  }
}

TEST_P(KvPoolTest, BytesTakeAQuarterOfFloats) {
  const double bytes = static_cast<double>(KvPool(config_, type_, 1 << 20).block_bytes());
  const double floats =
      static_cast<double>(KvPool(config_, WeightType::kF32, 1 << 20).block_bytes());
  const double expected = type_ == WeightType::kQ8_0  ? 0.25 + 2.0 / (24 + 32)
                          : type_ == WeightType::kF32 ? 1
                                                      : 0.5;
  EXPECT_NEAR(bytes / floats, expected, 1e-9);
}

std::vector<std::pair<Simd, WeightType>> PoolCases() {
  std::vector<std::pair<Simd, WeightType>> cases;
  for (const Simd simd : AvailableSimd()) {
    for (const WeightType type :
         {WeightType::kF32, WeightType::kF16, WeightType::kBF16, WeightType::kQ8_0}) {
      cases.emplace_back(simd, type);
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Types, KvPoolTest, ::testing::ValuesIn(PoolCases()), [](const auto& test) {
  return std::string(Name(test.param.first)) + "_" + std::string(Name(test.param.second));
});

}  // namespace
}  // namespace agentr
