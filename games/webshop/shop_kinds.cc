#include "games/webshop/shop_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "common/config_lines.h"
#include "common/text.h"

namespace agentr {

namespace embedded {
extern const std::string_view kShopAttributes;
extern const std::string_view kShopKinds;
}  // namespace embedded

namespace {

using Strings = std::vector<std::string>;

constexpr std::array<std::string_view, 5> kCategories = {"beauty", "garden", "grocery",
                                                         "electronics", "fashion"};
constexpr std::string_view kLevel = " › ";

class KindParser {
 public:
  KindParser(std::string_view text, std::string_view name,
             const std::vector<ShopAttribute>& attributes)
      : lines_(text, name) {
    for (const ShopAttribute& attribute : attributes) attributes_[attribute.name] = &attribute;
  }

  std::vector<ShopKind> Parse() {
    while (lines_.Next()) {
      if (const auto heading = lines_.Heading()) {
        Open(*heading);
      } else if (lines_.line().front() == '@') {
        DefinePool();
      } else {
        if (kinds_.empty()) lines_.Stop("this line must come after a [kind]");
        Set();
      }
    }
    if (kinds_.empty()) lines_.Stop("the file contains no kind");
    Close();
    return std::move(kinds_);
  }

 private:
  void Open(std::string_view name) {
    if (!kinds_.empty()) Close();
    const auto same = [&](const ShopKind& kind) { return kind.name == name; };
    if (std::ranges::any_of(kinds_, same)) lines_.Stop(fmt::format("[{}] occurs twice", name));
    kinds_.emplace_back().name = name;
    seen_.clear();
  }

  // Checks that the present kind is complete.
  void Close() {
    for (const char* key : {"category", "path", "queries", "nouns", "attributes", "materials",
                            "details", "for", "packs", "price"}) {
      if (!seen_.contains(key)) Lack(key);
    }
    if (kinds_.back().about.size() < 2) Lack("second 'about'");
    if (kinds_.back().points.size() < 3) Lack("third 'point'");
  }

  [[noreturn]] void Lack(std::string_view what) const {
    lines_.Stop(fmt::format("[{}], which ends here, has no {}", kinds_.back().name, what));
  }

  void DefinePool() {
    const auto [left, right] = lines_.Split('=');
    if (!pools_.emplace(left, lines_.Pieces(right, ',')).second) {
      lines_.Stop(fmt::format("the pool {} is defined twice", left));
    }
  }

  void Set() {
    const auto [key, value] = lines_.Split('=');
    ShopKind& kind = kinds_.back();
    if (key == "about") return kind.about.emplace_back(value), void();
    if (key == "point") return kind.points.emplace_back(value), void();
    if (!seen_.insert(std::string(key)).second) {
      lines_.Stop(fmt::format("'{}' occurs twice in [{}]", key, kind.name));
    }
    if (key == "category") return SetCategory(value);
    if (key == "path") return SetPath(value);
    if (key == "nouns") return SetNouns(value);
    if (key == "attributes") return SetAttributes(value);
    if (key == "price") return SetPrice(value);
    if (key.starts_with("option ")) return AddOption(key.substr(7), value);
    const std::map<std::string_view, Strings*> lists = {{"queries", &kind.queries},
                                                        {"materials", &kind.materials},
                                                        {"details", &kind.details},
                                                        {"for", &kind.audiences},
                                                        {"packs", &kind.packs}};
    const auto list = lists.find(key);
    if (list == lists.end()) lines_.Stop(fmt::format("unknown key: '{}'", key));
    *list->second = lines_.Pieces(value, ',');
  }

  void SetCategory(std::string_view value) {
    if (std::ranges::find(kCategories, value) == kCategories.end()) {
      lines_.Stop(fmt::format("unknown category: '{}'", value));
    }
    kinds_.back().category = value;
  }

  void SetPath(std::string_view value) {
    const size_t first = value.find(kLevel);
    if (first == value.rfind(kLevel)) lines_.Stop("expected three levels with ' › ' between them");
    kinds_.back().path = value;
  }

  void SetNouns(std::string_view value) {
    const std::map<std::string_view, NounForm> forms = {{"one", NounForm::kOne},
                                                        {"mass", NounForm::kMass},
                                                        {"pair", NounForm::kPair},
                                                        {"many", NounForm::kMany}};
    const size_t colon = std::min(value.find(':'), value.size());
    const auto form = forms.find(value.substr(0, colon));
    if (form == forms.end()) lines_.Stop("expected 'one:', 'mass:', 'pair:' or 'many:' and names");
    kinds_.back().form = form->second;
    kinds_.back().nouns = lines_.Pieces(value.substr(colon + 1), ',');
  }

  void SetAttributes(std::string_view value) {
    std::set<std::string> used;
    for (const std::string& matter : lines_.Pieces(value, ',')) {
      auto& alternatives = kinds_.back().attributes.emplace_back();
      for (const std::string& name : lines_.Pieces(matter, '/')) {
        const auto at = attributes_.find(name);
        if (at == attributes_.end()) {
          lines_.Stop(fmt::format("'{}' is not in the file of attributes", name));
        }
        if (!used.insert(name).second) lines_.Stop(fmt::format("'{}' occurs twice", name));
        alternatives.push_back(at->second);
      }
    }
    if (kinds_.back().attributes.size() < kLeastAttributes) {
      lines_.Stop(fmt::format("expected at least {} attributes", kLeastAttributes));
    }
  }

  void SetPrice(std::string_view value) {
    const Strings ends = lines_.Pieces(value, ' ');
    ShopKind& kind = kinds_.back();
    if (ends.size() != 2) lines_.Stop("expected two prices: lowest highest");
    kind.lowest_price = Dollars(ends[0]);
    kind.highest_price = Dollars(ends[1]);
    if (kind.lowest_price >= kind.highest_price) lines_.Stop("the lower price must come first");
  }

  double Dollars(const std::string& text) const {
    const int dollars = ParseNumber<int>(text).value_or(0);
    if (dollars < 1) lines_.Stop(fmt::format("'{}' is not a number of dollars", text));
    return dollars;
  }

  void AddOption(std::string_view name, std::string_view value) {
    KindOption option{std::string(name), {}};
    if (value.front() == '@') {
      const auto pool = pools_.find(value);
      if (pool == pools_.end()) lines_.Stop(fmt::format("the pool {} is not defined yet", value));
      option.values = pool->second;
    } else {
      option.values = lines_.Pieces(value, ',');
    }
    const std::set<std::string> distinct(option.values.begin(), option.values.end());
    if (distinct.size() < 2) lines_.Stop("expected at least two values");
    if (distinct.size() < option.values.size()) lines_.Stop("a value occurs twice");
    kinds_.back().options.push_back(std::move(option));
    if (kinds_.back().options.size() > 3) lines_.Stop("a kind may have at most three options");
  }

  ConfigLines lines_;
  std::map<std::string, const ShopAttribute*, std::less<>> attributes_;
  std::map<std::string, Strings, std::less<>> pools_;
  std::vector<ShopKind> kinds_;
  std::set<std::string, std::less<>> seen_;  // keys of the present kind
};

}  // namespace

std::vector<ShopAttribute> ParseShopAttributes(std::string_view text, std::string_view name) {
  ConfigLines lines(text, name);
  std::vector<ShopAttribute> attributes;
  std::set<std::string> names;
  while (lines.Next()) {
    Strings pieces = lines.Pieces(lines.line(), '|');
    if (pieces.size() < 3) lines.Stop("expected: attribute | how | sentence");
    const std::string how = pieces[1].substr(0, pieces[1].find(' '));
    if (how != "is" && how != "with" && how != "for" && how != "made" && how != "in") {
      lines.Stop(fmt::format("'{}' is not is, with, for, in or made", pieces[1]));
    }
    if (!names.insert(pieces[0]).second) {
      lines.Stop(fmt::format("'{}' occurs twice", pieces[0]));
    }
    attributes.push_back({pieces[0], pieces[1], Strings(pieces.begin() + 2, pieces.end())});
  }
  if (attributes.empty()) lines.Stop("the file contains no attribute");
  return attributes;
}

std::vector<ShopKind> ParseShopKinds(std::string_view text, std::string_view name,
                                     const std::vector<ShopAttribute>& attributes) {
  return KindParser(text, name, attributes).Parse();
}

const std::vector<ShopAttribute>& BuiltInShopAttributes() {
  static const auto attributes =
      ParseShopAttributes(embedded::kShopAttributes, "configs/webshop/attributes.txt");
  return attributes;
}

const std::vector<ShopKind>& BuiltInShopKinds() {
  static const auto kinds =
      ParseShopKinds(embedded::kShopKinds, "configs/webshop/kinds.txt", BuiltInShopAttributes());
  return kinds;
}

}  // namespace agentr
