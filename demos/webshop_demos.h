// Rows of demonstrations in WebShop: whole episodes of the scripted planner without mistakes, in
// generated shops that are not the one that env_server serves by default.
//
// The thoughts are short and say what the next words are copied from ("color: navy, as asked"), and
// what is clicked is written as the page shows it. Episodes that earn less than `least_reward` are
// left out.
//
// With checks each thought first says what the last action did ("I clicked navy. size: large, as
// asked."), and names the product that is to be opened.
//
// With slips the shop gets another action than the one that the thought speaks of: any that a
// player without a plan might take there, that changes something and buys nothing, as under
// agent_eval --slip_kind random. It stands in the row as the agent's own and is not trained. The
// next action mends it; with checks the thought before that says "I clicked red instead of navy.".
#pragma once

#include <cstdint>
#include <vector>

#include "demos/demo_row.h"

namespace agentr {

struct WebShopDemoOptions {
  int products = 400;         // of a shop
  int goals = 25;             // episodes in a shop
  int max_turns = 12;         // longer episodes are left out; a slip allows three turns more
  double least_reward = 0.9;  // of an episode
  bool checks = false;        // thoughts say what was done
  double slips = 0;           // share of the turns
};

// The rows of shop number `shop`, a pure function of the arguments. Thread-safe.
std::vector<DemoRow> WebShopDemos(const WebShopDemoOptions& options, uint64_t seed, int shop);

}  // namespace agentr
