#include "common/json_fields.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

// Which of the types a text of JSON is read from, one letter each: bool, text, int32, uint64,
// int64, float, double, list of int32, any list.
std::string ReadAs(const std::string& text) {
  const Json json = Json::parse(text);
  std::string types;
  if (IsJson<bool>(json)) types += 'b';
  if (IsJson<std::string>(json)) types += 't';
  if (IsJson<int32_t>(json)) types += 'i';
  if (IsJson<uint64_t>(json)) types += 'u';
  if (IsJson<int64_t>(json)) types += 'l';
  if (IsJson<float>(json)) types += 'f';
  if (IsJson<double>(json)) types += 'd';
  if (IsJson<std::vector<int32_t>>(json)) types += 'v';
  if (IsJson<Json::array_t>(json)) types += 'a';
  return types;
}

TEST(IsJson, TakesWhatTheTypeHoldsAndNothingElse) {
  EXPECT_EQ(ReadAs("true"), "b");
  EXPECT_EQ(ReadAs("\"1\""), "t");
  EXPECT_EQ(ReadAs("null"), "");
  EXPECT_EQ(ReadAs("{}"), "");
  EXPECT_EQ(ReadAs("7"), "iulfd");
  EXPECT_EQ(ReadAs("-7"), "ilfd");
  EXPECT_EQ(ReadAs("7.0"), "fd") << "a number with a point is no integer";
  EXPECT_EQ(ReadAs("1e39"), "d") << "a float has no such number";
  EXPECT_EQ(ReadAs("[]"), "va");
  EXPECT_EQ(ReadAs("[1, -2]"), "va");
  EXPECT_EQ(ReadAs("[1, 2.5]"), "a");
  EXPECT_EQ(ReadAs("[1, 4294967296]"), "a");
}

TEST(IsJson, KeepsTheBoundsOfIntegers) {
  EXPECT_EQ(ReadAs("2147483647"), "iulfd");
  EXPECT_EQ(ReadAs("2147483648"), "ulfd");
  EXPECT_EQ(ReadAs("-2147483648"), "ilfd");
  EXPECT_EQ(ReadAs("-2147483649"), "lfd");
  EXPECT_EQ(ReadAs("9223372036854775807"), "ulfd");
  EXPECT_EQ(ReadAs("9223372036854775808"), "ufd");
  EXPECT_EQ(ReadAs("18446744073709551615"), "ufd");
  EXPECT_EQ(ReadAs("18446744073709551616"), "fd");
}

// The words with which JsonField<T> refuses field "x" of `object`.
template <typename T>
std::string Refusal(const std::string& object) {
  try {
    JsonField<T>(Json::parse(object), "x");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(JsonField, NamesFieldAndType) {
  EXPECT_EQ(JsonField<int>(Json{{"x", 3}}, "x"), 3);
  EXPECT_EQ(Refusal<int>("{}"), "field \"x\" is missing");
  EXPECT_EQ(Refusal<int>("[1]"), "field \"x\" is missing");
  EXPECT_EQ(Refusal<std::string>(R"({"x": 3})"), "field \"x\" (number) is not a string");
  EXPECT_EQ(Refusal<bool>(R"({"x": 1})"), "field \"x\" (number) is not true or false");
  EXPECT_EQ(Refusal<int8_t>(R"({"x": 128})"),
            "field \"x\" (number) is not an integer from -128 to 127");
  EXPECT_EQ(Refusal<std::vector<double>>(R"({"x": [1, "2"]})"),
            "field \"x\" (array) is not a list, each item of it a number");
  EXPECT_EQ(Refusal<Json::array_t>(R"({"x": "y"})"), "field \"x\" (string) is not a list");
}

TEST(JsonField, OrSomethingElseWhereItIsLeftOut) {
  EXPECT_EQ(JsonFieldOr(Json::object(), "x", 5), 5);
  EXPECT_EQ(JsonFieldOr(Json{{"x", 3}}, "x", 5), 3);
  EXPECT_THROW(JsonFieldOr(Json{{"x", "3"}}, "x", 5), std::invalid_argument);
}

TEST(ReadingRecord, NamesFileFaultAndCure) {
  EXPECT_EQ(ReadingRecord("f.json", "run again", [] { return 3; }), 3);
  const auto refusal = [](const auto& read) {
    return FileErrorOf([&] { ReadingRecord("f.json", "run again", read); });
  };
  const Json record = {{"x", "text"}};
  EXPECT_EQ(refusal([&] { return JsonField<int>(record, "y"); }),
            "f.json: field \"y\" is missing. Cure: run again");
  EXPECT_EQ(refusal([&] { return record.at("y").size(); }),
            "f.json: key 'y' not found. Cure: run again");
  EXPECT_EQ(refusal([&] { return record.at("x").get<int>(); }),
            "f.json: type must be number, but is string. Cure: run again");
  EXPECT_THROW(ReadingRecord("f", "c", []() -> int { throw std::runtime_error("bug"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace agentr
