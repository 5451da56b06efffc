// The shop of tests/data/webshop: a few products with all the oddities of WebShop's own files.
#pragma once

#include <filesystem>
#include <memory>

#include "games/webshop/shop_files.h"
#include "games/webshop/webshop.h"

namespace agentr::testing {

inline std::filesystem::path SmallShopFolder() {
  return std::filesystem::path(AGENTR_SOURCE_DIR) / "tests" / "data" / "webshop";
}

inline ShopFiles SmallShopFiles() {
  return {.products = SmallShopFolder() / "items_shuffle.json",
          .attributes = SmallShopFolder() / "items_ins_v2.json",
          .human_goals = SmallShopFolder() / "items_human_ins.json"};
}

inline WebShop SmallShop(const ShopOptions& options = {}) {
  return WebShop(ReadShopFiles(SmallShopFiles()), options);
}

inline std::shared_ptr<const WebShop> SharedSmallShop(const ShopOptions& options) {
  return std::make_shared<const WebShop>(ReadShopFiles(SmallShopFiles()), options);
}

}  // namespace agentr::testing
