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

TEST(Collapse, ResponsesWithoutAnEndAndGroupsWithoutADifferenceAreNamed) {
  EXPECT_EQ(SignOf({{"play", {{"cut", 0.5}, {"kept", 0.1}}}}), "");
  EXPECT_THAT(SignOf({{"play", {{"cut", 0.75}}}}),
              HasSubstr("75 % of the policy's responses have no end"));
  EXPECT_THAT(SignOf({{"play", {{"kept", 0.0}, {"success", 1.0}}}}),
              HasSubstr("same reward (100 % succeed), so that nothing is learned"));
}

// An iteration of playing tasks.
Json Tasks(double success, double entropy) {
  return {{"play", {{"success", success}, {"entropy", entropy}, {"kept", 0.5}}}};
}

TEST(CollapseWatch, NamesAPolicyThatBecomesWorse) {
  CollapseWatch watch;
  for (const double success : {0.4, 0.5, 0.3, 0.4, 0.1}) {
    EXPECT_TRUE(watch.Look(Tasks(success, 0.2)).empty()) << success;
  }
  // The last three: 0.4, 0.1, 0.15, then 0.1, 0.15, 0.2.
  EXPECT_TRUE(watch.Look(Tasks(0.15, 0.2)).empty());
  const std::vector<CollapseSign> signs = watch.Look(Tasks(0.2, 0.2));
  ASSERT_EQ(signs.size(), 1u);
  EXPECT_EQ(signs[0].name, "worse");
  EXPECT_THAT(signs[0].text, HasSubstr("15 % of the episodes of the last 3 iterations succeed, "
                                       "after 40 % in the first 3"));
  EXPECT_TRUE(watch.Look(Tasks(0.5, 0.2)).empty());
}

TEST(CollapseWatch, NamesAPolicyThatScattersAlsoAfterAContinuation) {
  CollapseWatch watch;
  for (const double entropy : {0.2, 0.2, 0.2, 0.5, 0.5}) watch.Look(Tasks(0.5, entropy));
  CollapseWatch continued;
  continued.Restore(nlohmann::json::parse(watch.State().dump()));
  for (CollapseWatch* one : {&watch, &continued}) {
    const std::vector<CollapseSign> signs = one->Look(Tasks(0.5, 0.5));
    ASSERT_EQ(signs.size(), 1u);
    EXPECT_THAT(signs[0].text, HasSubstr("has grown from 0.2 to 0.5 nats"));
  }
}

TEST(CollapseWatch, LooksOnlyAtPlayedTasks) {
  CollapseWatch watch;
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(watch.Look({{"play", {{"success", i < 3 ? 1.0 : 0.0}, {"entropy", 1.0}}}}).empty());
  }
  EXPECT_TRUE(watch.State().empty());
}

TEST(Collapse, MetricsWithoutFiguresHaveNoSigns) {
  EXPECT_EQ(SignOf(Json::object()), "");
  EXPECT_EQ(SignOf({{"train", {{"loss", 0.1}}}, {"transitions", 4}}), "");
}

}  // namespace
}  // namespace agentr
