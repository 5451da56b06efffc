// WebShop as ArCHer (Zhou et al. 2024) shows it: the shop, the goals and the rewards of webshop.h,
// with another text and stricter rules.
//
// An observation is the log of the whole session with the instruction at its end:
//
//   \nObservation:\n<page>\nAction:\n<action>\nObservation:\n<page or answer>…\nInstruction:\n<text>
//
// Pages are those of archer_page.h. The actions, in the page's own spelling:
//
//   search[words]   on the start page only
//   click[x]        x is a button, a product (also one that is not shown) or an option of the page;
//                   an option is answered with "You have clicked x.". "Next >" is never possible, and
//                   on a product's page "Attributes" always is.
//   think[words]    answered with "OK."
//
// Anything else is answered with "Invalid action!". One line break at an action's end is ignored.
// Each of these takes one of the ten actions of a session; whatever follows them ends it with the
// reward 0, and the log then has no instruction at its end.
//
// The original returns the end of a session that ran out of actions again and again, so its training
// counts it several times; here a session that has ended stays as it is. Where the original's
// request fails (an empty action, an empty search, a "/", "?" or "#" in an address, an escape that
// is not Latin-1) the text is taken as it stands, and an empty one is an invalid action.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/webshop/webshop.h"

namespace agentr {

struct ArcherState {
  WebShopState shop;        // its reward and done are those of the last action
  std::string observation;  // the log
  int steps = 0;            // actions taken
  double score = 0;         // the sum of rewards

  bool done() const { return shop.done; }
};

// Immutable; copies share the shop.
class ArcherShop {
 public:
  using State = ArcherState;
  static constexpr std::string_view kTask = "webshop_archer";

  explicit ArcherShop(std::shared_ptr<const WebShop> shop) : shop_(std::move(shop)) {}

  // On the generated shop that env_server has without options, so the goals have the same ids.
  static ArcherShop BuiltIn();

  int64_t task_count() const { return static_cast<int64_t>(shop_->task_count()); }
  // nullopt: there is no such goal.
  std::optional<ArcherState> Start(int64_t task_id) const;
  void Step(ArcherState& state, std::string_view action) const;

  const std::string& Observation(const ArcherState& state) const { return state.observation; }
  static const WebShopState& Place(const ArcherState& state) { return state.shop; }
  // What can be clicked, as it is spelled.
  std::vector<std::string> Clickables(const ArcherState& state) const;

  const WebShop& shop() const { return *shop_; }

 private:
  std::string Answer(WebShopState& state, std::string_view action) const;
  std::string Click(WebShopState& state, std::string_view name) const;
  std::string PageOf(const WebShopState& state) const;
  // The end of the log.
  std::string InstructionPart(const WebShopState& state) const;

  std::shared_ptr<const WebShop> shop_;
};

}  // namespace agentr
