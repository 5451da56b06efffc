#include "lm/kernels/kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "common/random.h"
#include "lm/weights/half.h"

namespace agentr {
namespace {

using Values = std::vector<float>;

class KernelsTest : public ::testing::TestWithParam<Simd> {
 protected:
  float Uniform() { return static_cast<float>(stream_.Uniform() * 2 - 1); }
  Values Random(size_t count) {
    Values values(count);
    for (float& value : values) value = Uniform();
    return values;
  }

  // Values as the left side of products with weights of this type.
  std::vector<std::byte> Left(WeightType type, const Values& values) const {
    const auto count = static_cast<int>(values.size());
    const bool rounded = type == WeightType::kBF16;
    std::vector<std::byte> left(count * (rounded ? kernels_.bf16_left_bytes : sizeof(float)));
    if (rounded) kernels_.round_left(values.data(), count, left.data());
    if (!rounded) std::memcpy(left.data(), values.data(), left.size());
    return left;
  }
  // The bytes of a value in it.
  size_t LeftBytes(WeightType type) const {
    return type == WeightType::kBF16 ? kernels_.bf16_left_bytes : sizeof(float);
  }

  const Kernels& kernels_ = KernelsOf(GetParam());
  RandomStream stream_{11};
};

constexpr std::array kTypes = {WeightType::kF32, WeightType::kF16, WeightType::kBF16};

float Rounded(WeightType type, float value) {
  if (type == WeightType::kF16) return FromF16(ToF16(value));
  if (type == WeightType::kBF16) return FromBf16(ToBf16(value));
  return value;
}

// A matrix [depth][columns] in the order of MatrixProduct::b, rows `ldb` wide.
std::vector<std::byte> Packed(WeightType type, const Values& b, int depth, int columns, int ldb) {
  std::vector<std::byte> packed(depth * ldb * Bytes(type));
  auto* floats = reinterpret_cast<float*>(packed.data());
  auto* halves = reinterpret_cast<uint16_t*>(packed.data());
  for (int k = 0; k < depth; ++k) {
    for (int c = 0; c < columns; ++c) {
      const float value = b[k * columns + c];
      if (type == WeightType::kF32) floats[k * ldb + c] = value;
      if (type == WeightType::kF16) halves[k * ldb + c] = ToF16(value);
      if (type == WeightType::kBF16) halves[(k / 2 * ldb + c) * 2 + k % 2] = ToBf16(value);
    }
  }
  return packed;
}

Values RoundedAll(WeightType type, Values values) {
  for (float& value : values) value = Rounded(type, value);
  return values;
}

// The product a b in double, of rows of `a` that are `lda` apart. Tests are not optimised: a plain
// loop over pointers, once per shape, keeps the time in what is tested.
std::vector<double> ExactProduct(WeightType type, const Values& a, int lda, int rows,
                                 const Values& b, int depth, int columns) {
  const Values left = type == WeightType::kBF16 ? RoundedAll(type, a) : a;
  const Values right = RoundedAll(type, b);
  std::vector<double> product(static_cast<size_t>(rows) * columns);
  for (int r = 0; r < rows; ++r) {
    double* const sums = product.data() + r * columns;
    for (int k = 0; k < depth; ++k) {
      const double x = left[r * lda + k];
      const float* const row = right.data() + k * columns;
      for (int i = 0; i < columns; ++i) sums[i] += x * row[i];
    }
  }
  return product;
}

TEST_P(KernelsTest, MultiplyEqualsTheSumOfProducts) {
  for (const WeightType type : kTypes) {
    for (const int rows : {1, 3, 6, 13, 35}) {
      for (const int columns : {16, 48, 64, 112}) {
        for (const int depth : {2, 128, 130, 300, 1056}) {
          const int lda = depth + 3 + depth % 2, ldb = columns + 16, ldc = columns + 5;
          const Values a = Random(rows * lda), b = Random(depth * columns);
          const std::vector<std::byte> left = Left(type, a);
          const std::vector<std::byte> packed = Packed(type, b, depth, columns, ldb);
          const Values before = Random(rows * ldc);
          const std::vector<double> product = ExactProduct(type, a, lda, rows, b, depth, columns);
          for (const bool add : {false, true}) {
            Values c = before;
            kernels_.multiply(type, {left.data(), lda, rows, packed.data(), ldb, depth, c.data(),
                                     ldc, columns, add});
            for (int r = 0; r < rows; ++r) {
              for (int i = 0; i < ldc; ++i) {
                double expected = before[r * ldc + i];
                if (i < columns) expected = product[r * columns + i] + (add ? expected : 0);
                ASSERT_NEAR(c[r * ldc + i], expected, 2e-5)
                    << Name(type) << " " << rows << " × " << columns << " × " << depth << " at "
                    << r << ", " << i;
              }
            }
          }
        }
      }
    }
  }
}

// The same matrix in panels of panel_columns.
TEST_P(KernelsTest, TheRightSideCanBeInPanels) {
  const int depth = 130, columns = 128, panel = kernels_.panel_columns;
  for (const WeightType type : kTypes) {
    const Values b = Random(depth * columns);
    std::vector<std::byte> panels;
    for (int first = 0; first < columns; first += panel) {
      Values part;
      for (int k = 0; k < depth; ++k) {
        part.insert(part.end(), b.begin() + k * columns + first,
                    b.begin() + k * columns + first + panel);
      }
      std::ranges::copy(Packed(type, part, depth, panel, panel), std::back_inserter(panels));
    }
    const std::vector<std::byte> plain = Packed(type, b, depth, columns, columns);
    for (const int rows : {1, 2, 3, 4, 5, 7}) {
      const std::vector<std::byte> left = Left(type, Random(rows * depth));
      Values expected(rows * columns), c(rows * columns);
      MatrixProduct product{left.data(), depth,           rows,    plain.data(), columns,
                            depth,       expected.data(), columns, columns};
      kernels_.multiply(type, product);
      product.b = panels.data();
      product.ldb = panel;
      product.c = c.data();
      product.panel_stride = (type == WeightType::kBF16 ? depth / 2 : depth) * panel;
      kernels_.multiply(type, product);
      EXPECT_EQ(c, expected) << Name(type) << " " << rows;
    }
  }
}

TEST_P(KernelsTest, TheLeftSideCanBeATranspose) {
  const int rows = 13, columns = 48, depth = 130, stride = rows + 4;
  for (const WeightType type : {WeightType::kF32, WeightType::kF16}) {
    const Values transposed = Random(depth * stride), b = Random(depth * columns);
    Values a;
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < depth; ++k) a.push_back(transposed[k * stride + r]);
    }
    const std::vector<double> product = ExactProduct(type, a, depth, rows, b, depth, columns);
    const std::vector<std::byte> packed = Packed(type, b, depth, columns, columns);
    Values c(rows * columns);
    kernels_.multiply(type, {.a = transposed.data(),
                             .lda = 1,
                             .rows = rows,
                             .b = packed.data(),
                             .ldb = columns,
                             .depth = depth,
                             .c = c.data(),
                             .ldc = columns,
                             .columns = columns,
                             .a_step = stride});
    for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], product[i], 2e-5) << Name(type) << i;
  }
}

TEST_P(KernelsTest, ARowOfAProductIsTheSameBesideOthers) {
  for (const WeightType type : kTypes) {
    for (const int depth : {300, 320}) {
      const int columns = 64;
      const Values a = Random(40 * depth);
      const std::vector<std::byte> left = Left(type, a);
      const auto packed = Packed(type, Random(depth * columns), depth, columns, columns);
      const auto multiply = [&](int first, int rows) {
        Values c(rows * columns);
        kernels_.multiply(type, {left.data() + first * depth * LeftBytes(type), depth, rows,
                                 packed.data(), columns, depth, c.data(), columns, columns});
        return c;
      };
      const Values all = multiply(0, 40);
      for (int rows = 1; rows < 40; ++rows) {
        const Values some = multiply(40 - rows, rows);
        EXPECT_TRUE(std::equal(some.begin(), some.end(), all.end() - rows * columns)) << rows;
      }
    }
  }
}

TEST_P(KernelsTest, RmsNormSwiGluRotateAndRound) {
  for (const int n : {1, 2, 15, 16, 17, 33, 64, 200}) {
    const Values x = Random(n), y = Random(n);
    Values out(n + 1, 7), gated(n + 1, 7), turned = x;
    kernels_.rms_norm(x.data(), y.data(), 1e-3f, n, out.data());
    kernels_.swiglu(x.data(), y.data(), n, gated.data());
    kernels_.rotate(turned.data(), y.data(), y.data() + n / 2, n / 2);
    double squares = 0;
    for (const float value : x) squares += static_cast<double>(value) * value;
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(out[i], x[i] / std::sqrt(squares / n + 1e-3) * y[i], 1e-6);
      EXPECT_NEAR(gated[i], x[i] / (1 + std::exp(-x[i])) * y[i], 1e-6);
    }
    for (int i = 0; i < n / 2; ++i) {
      const float a = x[i], b = x[i + n / 2], cos = y[i], sin = y[i + n / 2];
      EXPECT_NEAR(turned[i], a * cos - b * sin, 1e-6);
      EXPECT_NEAR(turned[i + n / 2], b * cos + a * sin, 1e-6);
    }
    EXPECT_EQ(out[n], 7);
    EXPECT_EQ(gated[n], 7);
  }
}

TEST_P(KernelsTest, RoundLeftRoundsToBfloat16) {
  for (const int n : {1, 2, 15, 16, 17, 33, 200}) {
    Values x = Random(n);
    x[0] = n == 1 ? 1 + 0x1p-8f : NAN;  // a tie goes to the even neighbour, and a NaN stays one
    std::vector<std::byte> left((n + 1) * kernels_.bf16_left_bytes, std::byte{7});
    kernels_.round_left(x.data(), n, left.data());
    for (int i = 0; i < n; ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, left.data() + i * kernels_.bf16_left_bytes, kernels_.bf16_left_bytes);
      if (kernels_.bf16_left_bytes == 4) bits >>= 16;
      EXPECT_EQ(bits, ToBf16(x[i])) << i;
    }
    EXPECT_EQ(left[n * kernels_.bf16_left_bytes], std::byte{7});
  }
}

TEST_P(KernelsTest, GeGluIsGeluByTanh) {
  for (const int n : {1, 16, 37}) {
    std::vector<float> gate(n), up(n), out(n);
    for (int i = 0; i < n; ++i) {
      gate[i] = static_cast<float>(i - n / 2) * 0.7f;
      up[i] = static_cast<float>(i + 1) * 0.1f;
    }
    kernels_.geglu(gate.data(), up.data(), n, out.data());
    for (int i = 0; i < n; ++i) {
      const double x = gate[i];
      const double gelu = x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
      EXPECT_NEAR(out[i], gelu * up[i], 2e-6 * (1 + std::abs(gelu * up[i]))) << gate[i];
    }
  }
}

TEST_P(KernelsTest, SwiGluAtTheEndsOfExp) {
  const Values gate = {-200, -88.5, -87.5, -86, -20, -1e-6f, 0, 20, 86, 89, 200};
  const Values up(gate.size(), 1);
  Values out(gate.size());
  kernels_.swiglu(gate.data(), up.data(), static_cast<int>(gate.size()), out.data());
  for (size_t i = 0; i < gate.size(); ++i) {
    const double expected = gate[i] / (1 + std::exp(-static_cast<double>(gate[i])));
    EXPECT_NEAR(out[i], expected, 1e-6 * std::fabs(expected) + 1e-30) << gate[i];
  }
}

struct AttentionCase {
  int heads, head_dim, start, tokens, window;
};

// softmax(q kᵀ / sqrt(width)) v over keys in blocks out of order, in double.
TEST_P(KernelsTest, AttendEqualsTheDefinition) {
  constexpr std::array kCases = {AttentionCase{1, 8, 0, 1, 0},    AttentionCase{2, 16, 0, 16, 0},
                                 AttentionCase{4, 40, 30, 5, 0},  AttentionCase{2, 64, 511, 1, 0},
                                 AttentionCase{6, 12, 77, 5, 20}, AttentionCase{1, 128, 95, 32, 33},
                                 AttentionCase{7, 80, 64, 4, 1},  AttentionCase{2, 256, 40, 9, 0}};
  for (const WeightType type : kTypes) {
    for (const AttentionCase& t : kCases) {
      const int end = t.start + t.tokens, width = t.head_dim;
      const int padded = (width + kLanes - 1) / kLanes * kLanes;
      const int blocks = (end + kKeyBlock - 1) / kKeyBlock;
      const Values queries = Random(t.tokens * t.heads * width);
      const Values keys = Random(blocks * kKeyBlock * width), values = Random(keys.size());
      const int64_t key_bytes = kKeyBlock * width * static_cast<int64_t>(Bytes(type));
      const int64_t value_bytes = kKeyBlock * padded * static_cast<int64_t>(Bytes(type));
      std::vector<std::byte> pool((key_bytes + value_bytes) * blocks);
      std::vector<int32_t> table;
      for (int b = 0; b < blocks; ++b) table.push_back(blocks - 1 - b);
      for (int b = 0; b < blocks; ++b) {
        Values k(width * kKeyBlock), v(kKeyBlock * width);
        for (int i = 0; i < kKeyBlock; ++i) {
          // What no token sees yet may be anything; a pair's other half is zero.
          const int position = b * kKeyBlock + i;
          const float unseen = position == end && end % 2 == 1 ? 0 : NAN;
          for (int d = 0; d < width; ++d) {
            k[d * kKeyBlock + i] = position < end ? keys[position * width + d] : NAN;
            v[i * width + d] = position < end ? values[position * width + d] : unseen;
          }
        }
        std::byte* place = pool.data() + table[b] * (key_bytes + value_bytes);
        std::ranges::copy(Packed(type, k, width, kKeyBlock, kKeyBlock), place);
        std::ranges::copy(Packed(type, v, kKeyBlock, width, padded), place + key_bytes);
      }
      const Values rounded_keys = RoundedAll(type, keys), rounded_values = RoundedAll(type, values);
      Values mixed(queries.size());
      std::vector<AttentionToken> tokens;
      for (int i = 0; i < t.tokens; ++i) {
        tokens.push_back({queries.data() + i * t.heads * width, table.data(), t.start + i});
      }
      AttentionTask task;
      task.type = type;
      task.tokens = tokens;
      task.mixed = mixed.data();
      task.heads = t.heads;
      task.head_dim = width;
      task.window = t.window;
      task.keys = pool.data();
      task.values = pool.data() + key_bytes;
      task.block_bytes = key_bytes + value_bytes;
      kernels_.attend(task);
      for (int row = 0; row < t.tokens * t.heads; ++row) {
        const int position = t.start + row / t.heads;
        const int first = t.window > 0 ? std::max(0, position + 1 - t.window) : 0;
        double total = 0;
        std::vector<double> sums(width, 0);
        for (int p = first; p <= position; ++p) {
          const float* const query = queries.data() + row * width;
          const float* const key = rounded_keys.data() + p * width;
          const float* const value = rounded_values.data() + p * width;
          double score = 0;
          for (int d = 0; d < width; ++d) score += static_cast<double>(query[d]) * key[d];
          const double share = std::exp(score / std::sqrt(width));
          total += share;
          double* const sum = sums.data();
          for (int d = 0; d < width; ++d) sum[d] += share * value[d];
        }
        for (int d = 0; d < width; ++d) {
          ASSERT_NEAR(mixed[row * width + d], sums[d] / total,
                      type == WeightType::kBF16 ? 1e-2 : 2e-6)
              << Name(type) << " width " << width << " row " << row;
        }
      }
    }
  }
}

// Tokens of four sequences in one task: two share two blocks, the third shares one with them, the
// last none; the positions and so the last blocks differ.
TEST_P(KernelsTest, AttendToSharedBlocksHasTheBitsOfEachTokenAlone) {
  constexpr int kHeads = 3, kDim = 24, kPadded = 32, kBlocks = 9;
  const std::array<std::vector<int32_t>, 4> tables = {
      std::vector<int32_t>{4, 2, 0}, {4, 2, 7, 1}, {4, 3}, {8, 6, 5}};
  constexpr std::array kPositions = {70, 99, 40, 64};
  for (const WeightType type : kTypes) {
    for (const int window : {0, 37}) {
      const int64_t key_bytes = kKeyBlock * kDim * static_cast<int64_t>(Bytes(type));
      const int64_t value_bytes = kKeyBlock * kPadded * static_cast<int64_t>(Bytes(type));
      std::vector<std::byte> pool((key_bytes + value_bytes) * kBlocks);
      for (int b = 0; b < kBlocks; ++b) {
        std::byte* place = pool.data() + b * (key_bytes + value_bytes);
        std::ranges::copy(Packed(type, Random(kDim * kKeyBlock), kDim, kKeyBlock, kKeyBlock),
                          place);
        std::ranges::copy(Packed(type, Random(kKeyBlock * kDim), kKeyBlock, kDim, kPadded),
                          place + key_bytes);
      }
      const Values queries = Random(tables.size() * kHeads * kDim);
      std::vector<AttentionToken> tokens;
      for (size_t i = 0; i < tables.size(); ++i) {
        tokens.push_back({queries.data() + i * kHeads * kDim, tables[i].data(), kPositions[i]});
      }
      const auto attend = [&](std::span<const AttentionToken> some) {
        Values mixed(some.size() * kHeads * kDim);
        AttentionTask task;
        task.type = type;
        task.tokens = some;
        task.mixed = mixed.data();
        task.heads = kHeads;
        task.head_dim = kDim;
        task.window = window;
        task.keys = pool.data();
        task.values = pool.data() + key_bytes;
        task.block_bytes = key_bytes + value_bytes;
        kernels_.attend(task);
        return mixed;
      };
      Values alone;
      for (const AttentionToken& token : tokens) {
        const Values mixed = attend({&token, 1});
        alone.insert(alone.end(), mixed.begin(), mixed.end());
      }
      EXPECT_EQ(attend(tokens), alone) << Name(type) << " window " << window;
    }
  }
}

std::string NameOf(const ::testing::TestParamInfo<Simd>& test) {
  return std::string(Name(test.param));
}
INSTANTIATE_TEST_SUITE_P(Simds, KernelsTest, ::testing::ValuesIn(AvailableSimd()), NameOf);

TEST(Half, EveryFloat16IsItselfAgain) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = FromF16(static_cast<uint16_t>(bits));
    if ((bits & 0x7C00) == 0x7C00) {
      EXPECT_EQ(std::isnan(value), (bits & 0x3FF) != 0);
      continue;
    }
    EXPECT_EQ(ToF16(value), bits);
    const double expected = std::ldexp((bits & 0x3FF) + ((bits & 0x7C00) != 0 ? 1024 : 0),
                                       std::max<int>(bits >> 10 & 31, 1) - 25);
    EXPECT_EQ(std::fabs(value), expected);
  }
}

TEST(Half, ToTheNearestTiesToEven) {
  EXPECT_EQ(ToF16(1 + 0x1p-11f), 0x3C00);  // between 1 and the next: 1 is even
  EXPECT_EQ(ToF16(1 + 0x1.8p-10f), 0x3C02);
  EXPECT_EQ(ToF16(1 + 0x1.02p-11f), 0x3C01);
  EXPECT_EQ(ToF16(0x1p-25f), 0);  // half of the least subnormal
  EXPECT_EQ(ToF16(0x1.8p-24f), 2);
  EXPECT_EQ(ToF16(-1e9f), 0xFBFF);
  EXPECT_EQ(ToBf16(1 + 0x1p-8f), 0x3F80);
  EXPECT_EQ(ToBf16(1 + 0x1.8p-7f), 0x3F82);
  EXPECT_EQ(ToBf16(1 + 0x1.02p-8f), 0x3F81);
  EXPECT_TRUE(std::isnan(FromBf16(ToBf16(NAN))));
  EXPECT_TRUE(std::isnan(FromF16(ToF16(NAN))));
}

}  // namespace
}  // namespace agentr
