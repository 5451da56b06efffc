#include "games/webshop/shop_generator.h"

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "common/handoff.h"
#include "games/webshop/shop_draft.h"
#include "games/webshop/shop_group.h"
#include "games/webshop/shop_wording.h"

namespace agentr {
namespace {

constexpr size_t kBlocksAtOnce = 50;  // blocks of kShopBlock products: a few ms of work for one
                                      // thread

struct GroupDraft {
  ShopGroup group;
  std::vector<ProductDraft> products;  // may be fewer than the members at the end of the shop
};

using Drafts = std::vector<GroupDraft>;

// The products of blocks [first, last) with numbers below `count`.
Drafts DraftBlocks(const RandomStream& shop, uint64_t first, uint64_t last, uint64_t count) {
  Drafts drafts;
  for (uint64_t block = first; block < last; ++block) {
    uint64_t number = block * kShopBlock;
    const std::array<size_t, 5> sizes = GroupSizes(shop, block);
    for (size_t g = 0; g < sizes.size() && number < count; ++g) {
      GroupDraft& draft = drafts.emplace_back();
      draft.group = DrawGroup(shop, block * sizes.size() + g, sizes[g]);
      for (const ShopMember& member : draft.group.members) {
        if (number == count) break;
        draft.products.push_back(DraftProduct(shop, number++, draft.group, member));
      }
    }
  }
  return drafts;
}

// Copies drafts into a catalogue, the shared texts of a group only once.
class Appender {
 public:
  explicit Appender(Catalogue& catalogue) : catalogue_(catalogue) {}

  void Append(const GroupDraft& draft) {
    const ShopKind& kind = *draft.group.kind;
    Product product;
    product.category = catalogue_.Intern(kind.category);
    product.product_category = catalogue_.Intern(kind.path);
    product.query = catalogue_.Intern(draft.group.query);
    product.description = catalogue_.Keep(draft.group.description);
    own_bullets_.clear();
    for (size_t m = 0; m < draft.products.size(); ++m) {
      const ShopMember& member = draft.group.members[m];
      if (m == 0 || member.options != draft.group.members[0].options) {
        product.options = KeepOptions(member.options);
        if (m == 0) first_options_ = product.options;
      } else {
        product.options = first_options_;
      }
      product.has_price_range = member.price.ranged;
      product.first_price = member.price.first;
      product.last_price = member.price.ranged ? member.price.last : member.price.first;
      AppendProduct(draft.products[m], product);
    }
  }

 private:
  void AppendProduct(const ProductDraft& draft, Product product) {
    product.asin = catalogue_.Keep(draft.asin);
    product.title = catalogue_.Keep(draft.title);
    product.image = catalogue_.Keep(draft.image);
    views_.clear();
    for (const std::string& bullet : draft.bullets) views_.push_back(KeepBullet(bullet));
    product.bullets = catalogue_.Keep(Texts(views_));
    product.attributes = KeepNames(draft.attributes);
    product.price = draft.price;
    product.has_instruction = !draft.instruction.empty();
    product.instruction = catalogue_.Keep(draft.instruction);
    product.instruction_attributes = KeepNames(draft.instruction_attributes);
    std::vector<HumanInstruction> humans;
    for (const DraftHumanInstruction& human : draft.human_instructions) {
      humans.push_back(
          {catalogue_.Keep(human.text), KeepNames(human.attributes), KeepNames(human.options)});
    }
    product.human_instructions = catalogue_.Keep(std::span<const HumanInstruction>(humans));
    catalogue_.Add(product);
  }

  // Nearly all bullets equal those of the other members.
  std::string_view KeepBullet(std::string_view bullet) {
    const auto at = std::ranges::find(own_bullets_, bullet);
    if (at != own_bullets_.end()) return *at;
    return own_bullets_.emplace_back(catalogue_.Intern(bullet));
  }

  Texts KeepNames(const std::vector<std::string_view>& names) {
    views_.clear();
    for (const std::string_view name : names) views_.push_back(catalogue_.Intern(name));
    return catalogue_.Keep(Texts(views_));
  }

  std::span<const ProductOption> KeepOptions(const std::vector<DraftOption>& options) {
    std::vector<ProductOption> kept;
    for (const DraftOption& option : options) {
      kept.push_back({catalogue_.Intern(option.name), KeepNames(option.values)});
    }
    return catalogue_.Keep(std::span<const ProductOption>(kept));
  }

  Catalogue& catalogue_;
  std::vector<std::string_view> views_;
  std::vector<std::string_view> own_bullets_;  // of the present group, in the arena
  std::span<const ProductOption> first_options_;
};

}  // namespace

Catalogue GenerateShop(size_t count, uint64_t seed) {
  const RandomStream shop = RandomStream(seed).Split("shop");
  const uint64_t blocks = (count + kShopBlock - 1) / kShopBlock;
  Catalogue catalogue;
  Appender appender(catalogue);
  uint64_t next = 0;
  Handoff handoff;
  const auto hand_out = [&](tbb::flow_control& control) -> uint64_t {
    const HandoffScope scope(handoff);
    if (next >= blocks) control.stop();
    const uint64_t first = next;
    next += kBlocksAtOnce;
    return first;
  };
  const auto draft = [&](uint64_t first) {
    const HandoffScope scope(handoff);
    const uint64_t last = std::min<uint64_t>(first + kBlocksAtOnce, blocks);
    return std::make_shared<Drafts>(DraftBlocks(shop, first, last, count));
  };
  const auto append = [&](const std::shared_ptr<Drafts>& drafts) {
    const HandoffScope scope(handoff);
    for (const GroupDraft& group : *drafts) appender.Append(group);
  };
  const auto threads = static_cast<size_t>(tbb::this_task_arena::max_concurrency());
  handoff.Give();
  tbb::parallel_pipeline(
      2 * threads,
      tbb::make_filter<void, uint64_t>(tbb::filter_mode::serial_in_order, hand_out) &
          tbb::make_filter<uint64_t, std::shared_ptr<Drafts>>(tbb::filter_mode::parallel, draft) &
          tbb::make_filter<std::shared_ptr<Drafts>, void>(tbb::filter_mode::serial_in_order,
                                                          append));
  handoff.Take();
  return catalogue;
}

}  // namespace agentr
