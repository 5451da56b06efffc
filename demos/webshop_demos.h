// Rows of demonstrations in WebShop: whole episodes of the scripted planner without mistakes, in
// generated shops that are not the one that env_server serves by default.
//
// The thoughts are short and say what the next words are copied from ("color: navy, as asked"), and
// what is clicked is written as the page shows it. Episodes that earn less than `least_reward` are
// left out.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/demo_row.h"

namespace agentr {

struct WebShopDemoOptions {
  int products = 400;         // of a shop
  int goals = 25;             // episodes in a shop
  int max_turns = 12;         // longer episodes are left out
  double least_reward = 0.9;  // of an episode
};

// The rows of shop number `shop`, a pure function of the arguments. Thread-safe.
std::vector<DemoRow> WebShopDemos(const WebShopDemoOptions& options, uint64_t seed, int shop);

}  // namespace agentr
