#include "lm/weights/quantised.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace agentr {
namespace {

// Made by scripts/golden/quantised.py with the published converter.
class QuantisedTest : public ::testing::Test {
 protected:
  QuantisedTest() { std::ifstream(AGENTR_SOURCE_DIR "/tests/golden/quantised.json") >> golden_; }

  template <typename T>
  static std::vector<T> FromHex(const std::string& digits) {
    std::vector<T> values(digits.size() / 2 / sizeof(T));
    for (size_t i = 0; i < digits.size() / 2; ++i) {
      const auto byte = static_cast<uint8_t>(std::stoi(digits.substr(i * 2, 2), nullptr, 16));
      std::memcpy(reinterpret_cast<uint8_t*>(values.data()) + i, &byte, 1);
    }
    return values;
  }

  nlohmann::json golden_;
};

TEST_F(QuantisedTest, ValuesEqualThoseOfThePublishedConverterToTheBit) {
  int types = 0;
  for (const auto& [name, type] : kWeightTypes) {
    if (!IsQuantised(type)) continue;
    ++types;
    const nlohmann::json& golden = golden_["widened"][std::string(name)];
    const auto blocks = FromHex<std::byte>(golden["blocks"]);
    const auto expected = FromHex<uint32_t>(golden["values"]);
    ASSERT_EQ(static_cast<int64_t>(blocks.size()),
              BytesOf(type, static_cast<int64_t>(expected.size())))
        << name;
    std::vector<float> values(expected.size());
    Dequantise(type, blocks.data(), static_cast<int64_t>(values.size()), values.data());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), expected[i]) << name << " at " << i;
    }
  }
  EXPECT_EQ(types, 8);
}

TEST_F(QuantisedTest, BlocksEqualThoseOfThePublishedConverter) {
  for (const WeightType type : {WeightType::kQ8_0, WeightType::kQ4_0}) {
    const nlohmann::json& golden = golden_["quantised"][std::string(Name(type))];
    const auto values = FromHex<float>(golden["values"]);
    const auto expected = FromHex<std::byte>(golden["blocks"]);
    const auto count = static_cast<int64_t>(values.size());
    std::vector<std::byte> blocks(BytesOf(type, count));
    Quantise(type, values.data(), count, blocks.data());
    EXPECT_EQ(blocks, expected) << Name(type);
  }
}

}  // namespace
}  // namespace agentr
