#include "lm/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <thread>

#include "common/error.h"
#include "common/hash.h"
#include "lm/utf8.h"
#include "tests/lm/golden_tokenizer.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kRows[] =
    "each string and kind: SHA-256 of ids, 6 digits; of their text, 4; of plain ids, 6, if they "
    "differ";

// The strings of strings.json, by the rule of scripts/golden/tokenizer_kinds.py.
std::vector<std::string> GoldenStrings(const json& golden) {
  auto strings = golden.at("parts").get<std::vector<std::string>>();
  const std::vector<std::string> parts = strings;
  uint64_t state = 1;
  const auto draw = [&](uint64_t n) {
    state = (state * 1103515245 + 12345) % (uint64_t{1} << 31);
    return (state >> 16) % n;
  };
  while (strings.size() < golden.at(kRows).size()) {
    std::string text;
    for (uint64_t count = 1 + draw(8); count > 0; --count) text += parts[draw(parts.size())];
    strings.push_back(text);
  }
  return strings;
}

std::string Digest(const std::string& text, size_t digits) {
  return Sha256(text).substr(0, digits);
}

std::string Digest(const std::vector<int32_t>& ids) {
  return Digest(fmt::format("{}", fmt::join(ids, " ")), 6);
}

// Ids with what they spell, for messages.
std::string Spelled(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += fmt::format(" {}'{}'", id, tokenizer.TokenBytes(id));
  return text;
}

// `expected`: the digests of one string and kind.
void ExpectGolden(const Tokenizer& tokenizer, const std::string& text,
                  const std::string& expected) {
  const std::vector<int32_t> ids = tokenizer.Encode(text);
  const std::vector<int32_t> plain = tokenizer.Encode(text, SpecialText::kPlain);
  EXPECT_EQ(Digest(ids), expected.substr(0, 6)) << Spelled(tokenizer, ids);
  EXPECT_EQ(Digest(tokenizer.Decode(ids), 4), expected.substr(6, 4)) << tokenizer.Decode(ids);
  EXPECT_EQ(Digest(plain), expected.size() > 10 ? expected.substr(10) : expected.substr(0, 6))
      << Spelled(tokenizer, plain);
}

TEST(Tokenizer, IsTheTokenizersLibraryOnEveryGolden) {
  const json golden = ReadGolden("tokenizers/strings.json");
  const std::vector<std::string> strings = GoldenStrings(golden);
  ASSERT_GE(strings.size(), 3000);
  const auto kinds = golden.at("kinds").get<std::vector<std::string>>();
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto tokenizer = GoldenTokenizer(kinds[kind]);
    for (size_t i = 0; i < strings.size(); ++i) {
      SCOPED_TRACE(fmt::format("{}, string {}: {}", kinds[kind], i, json(strings[i]).dump()));
      const std::string row = golden[kRows][i].get<std::string>();
      std::istringstream words(row);
      std::string expected;
      for (size_t k = 0; k <= kind; ++k) words >> expected;
      ExpectGolden(*tokenizer, strings[i], expected);
      if (HasFailure() && i > 20) return;
    }
  }
}

}  // namespace
}  // namespace agentr
