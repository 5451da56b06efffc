#include "rl/collapse.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

// Of the only sign; "" if there is none.
std::string SignOf(const Json& metrics) {
  const std::vector<CollapseSign> signs = SignsOfCollapse(metrics);
  EXPECT_LE(signs.size(), 1u);
  return signs.empty() ? "" : signs[0].text;
}

TEST(Collapse, APolicyThatAlwaysFailsInTheSameWayIsNamed) {
  Json metrics = {{"play", {{"episodes", 8}, {"success", 0.125}, {"entropy", 0.0004}}}};
  EXPECT_THAT(SignOf(metrics), HasSubstr("the entropy of its choices is 0.0004 nats, and 12 % of "
                                         "its episodes succeed"));
  metrics["play"]["success"] = 0.9;
  EXPECT_EQ(SignOf(metrics), "") << "it has learned its task";
  metrics["play"] = {{"episodes", 0}, {"entropy", 0.0004}};
  EXPECT_THAT(SignOf(metrics), HasSubstr("0.0004 nats"));
  metrics["play"]["entropy"] = 0.3;
  EXPECT_EQ(SignOf(metrics), "");
}

TEST(Collapse, APolicyThatJumpsIsNamed) {
  EXPECT_EQ(SignOf({{"train", {{"kl", 0.04}, {"divergence", 0.2}}}}), "");
  EXPECT_THAT(SignOf({{"train", {{"kl", 3.25}}}}),
              HasSubstr("the policy is 3.2 nats away from the one that played"));
  EXPECT_THAT(SignOf({{"train", {{"divergence", 1.5}}}}),
              HasSubstr("1.5 nats away from the model before training"));
  // 16 preferences of two responses of 10 tokens each.
  Json dpo = {{"train", {{"chosen_log_ratio", -5.0}, {"items", 16}, {"trained_tokens", 320}}}};
  EXPECT_EQ(SignOf(dpo), "") << "half a nat per token";
  dpo["train"]["chosen_log_ratio"] = -40.0;
  EXPECT_THAT(SignOf(dpo), HasSubstr("4 nats away"));
}

TEST(Collapse, ActionsThatNobodyCanReadAreCounted) {
  EXPECT_EQ(SignOf({{"play", {{"unreadable", 0.5}}}}), "");
  EXPECT_THAT(SignOf({{"play", {{"unreadable", 0.96}}}}),
              HasSubstr("96 % of the policy's actions cannot be read"));
}

TEST(Collapse, MetricsWithoutFiguresHaveNoSigns) {
  EXPECT_EQ(SignOf(Json::object()), "");
  EXPECT_EQ(SignOf({{"train", {{"loss", 0.1}}}, {"transitions", 4}}), "");
}

}  // namespace
}  // namespace agentr
