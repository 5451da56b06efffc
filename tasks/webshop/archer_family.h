// WebShop as ArCHer shows it (games/webshop/archer_shop.h): observations are logs of the whole
// session, which archer_log.h translates for the family of AgentGym's style.
#pragma once

#include "tasks/webshop/webshop_family.h"

namespace agentr {

class ArcherFamily : public WebShopFamily {
 public:
  std::string_view name() const override { return "webshop_archer"; }

  // Never: every action takes one of the ten of a session and stands in the log.
  bool LeavesStateUnchanged(std::string_view /*before*/, std::string_view /*action*/,
                            std::string_view /*after*/) const override {
    return false;
  }
  // "Invalid action!", or a page that was there already.
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  // Actions that will probably be refused. Products that the log does not show count as such.
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  // A thought: it only costs an action.
  std::string_view RevisionAction() const override { return "think[That was a mistake.]"; }

  // The page with the options chosen, whatever led there and however many actions are left.
  std::string StateKey(std::span<const Message> history) const override;
  // The last page or answer; the earlier part of the log counts as a reading.
  Readings WithoutReadings(std::string_view observation) const override;
  std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                               std::string_view after) const override;
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;
};

}  // namespace agentr
