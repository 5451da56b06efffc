// WebShop, as the scripted models play it (webshop_planner.h, webshop_slips.h).
#pragma once

#include "tasks/player.h"

namespace agentr {

class WebShopPlayer : public Player {
 public:
  std::string_view title() const override { return "WebShop"; }
  Result<std::unique_ptr<Position>> Read(std::span<const Message> conversation,
                                         int task) const override;
};

}  // namespace agentr
