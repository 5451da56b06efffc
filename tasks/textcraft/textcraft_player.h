// TextCraft, as the scripted models play it (textcraft_planner.h, textcraft_slips.h).
#pragma once

#include "tasks/player.h"

namespace agentr {

class TextCraftPlayer : public Player {
 public:
  std::string_view title() const override { return "TextCraft"; }
  Result<std::unique_ptr<Position>> Read(std::span<const Message> conversation,
                                         int task) const override;
};

}  // namespace agentr
