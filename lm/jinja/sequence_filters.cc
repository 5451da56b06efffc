// Filters of lists and dicts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "common/named_values.h"
#include "common/text.h"
#include "lm/jinja/filters.h"
#include "lm/jinja/methods.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

// Resolves a path such as "a.b.0", for filters with `attribute`; the value itself without one.
Value AttributePath(Run& run, Value value, const Value& path) {
  if (path.IsUndefined() || path.IsNone()) return value;
  if (IsInteger(path)) return ItemOf(run, value, path);
  const std::string_view text = TextOf(run, path).bytes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const auto index = ParseNumber<int64_t>(part);
    const bool number = index && part[0] != '-';
    value = ItemOf(run, value, number ? Value(*index) : Value(std::string(part)));
    begin = end + 1;
  }
  return value;
}

// The key to compare: texts are lower-cased unless `with_case`.
Value SortKey(Run& run, const Value& value, bool with_case) {
  if (with_case || value.text() == nullptr) return value;
  return NewText(run, LowerText(run, TextOf(run, value)));
}

Value LengthFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "length", arguments, {});
  return Value(LengthOf(run, value));
}

Value ListFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "list", arguments, {});
  return run.NewList(ListKind::kList, ItemsOf(run, value));
}

Value FirstFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "first", arguments, {});
  if (const List* list = value.list(); list && list->kind == ListKind::kGenerator) {
    return list->taken < list->items.size() ? list->items[list->taken++] : Value();
  }
  const Items items = ItemsOf(run, value);
  return items.empty() ? Value() : items.front();
}

Value LastFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "last", arguments, {});
  if (value.list() && value.list()->kind == ListKind::kGenerator) run.Fail("last of a generator");
  const Items items = ItemsOf(run, value);
  return items.empty() ? Value() : items.back();
}

Value ReverseFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "reverse", arguments, {});
  if (value.list() && value.list()->kind == ListKind::kGenerator)
    run.Refuse("reverse of a generator");
  Items items = ItemsOf(run, value);
  std::ranges::reverse(items);
  if (value.text() == nullptr) return run.NewList(ListKind::kGenerator, std::move(items));
  Text text;
  for (const Value& item : items) text.Append(*item.text());
  return NewText(run, std::move(text));
}

Value JoinFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "join", arguments, {"d", "attribute"});
  std::vector<Text> parts;
  for (const Value& item : ItemsOf(run, value)) {
    parts.push_back(SoftText(run, AttributePath(run, item, a[1])));
  }
  return NewText(run, JoinTexts(run, SoftText(run, a[0]), parts));
}

// The keys of a dict, each with its value; fails with `message` on anything else.
Items PairsOf(Run& run, const Value& value, const char* message) {
  if (value.dict() == nullptr) run.Fail(message);
  Items pairs;
  for (const auto& [key, other] : value.dict()->entries) {
    pairs.push_back(run.NewList(ListKind::kTuple, {key, other}));
  }
  return pairs;
}

Value ItemsFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "items", arguments, {});
  if (value.IsUndefined()) return run.NewList(ListKind::kGenerator, {});
  return run.NewList(ListKind::kGenerator, PairsOf(run, value, "items takes a mapping"));
}

void SortItems(Run& run, Items& items, const std::function<Value(const Value&)>& key,
               bool reverse) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : items) keyed.emplace_back(key(item), item);
  // A reversed sort keeps the order of equal items, as Python's does.
  std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
    return reverse ? Order(run, b.first, a.first) < 0 : Order(run, a.first, b.first) < 0;
  });
  for (size_t i = 0; i < items.size(); ++i) items[i] = keyed[i].second;
}

Value SortFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "sort", arguments, {"reverse", "case_sensitive", "attribute"});
  if (a[2].text() && a[2].text()->bytes.find(',') != std::string::npos) {
    run.Refuse("sort by several attributes");
  }
  Items items = ItemsOf(run, value);
  const auto key = [&](const Value& item) {
    return SortKey(run, AttributePath(run, item, a[2]), Truth(a[1]));
  };
  SortItems(run, items, key, Truth(a[0]));
  return run.NewList(ListKind::kList, std::move(items));
}

Value DictSortFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const std::string by = a[1].text() ? a[1].text()->bytes : "key";
  if (by != "key" && by != "value") run.Fail("dictsort is by key or value");
  Items items = PairsOf(run, value, "dictsort takes a dict");
  const auto key = [&](const Value& item) {
    return SortKey(run, item.list()->items[by == "key" ? 0 : 1], Truth(a[0]));
  };
  SortItems(run, items, key, Truth(a[2]));
  return run.NewList(ListKind::kList, std::move(items));
}

Value UniqueFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "unique", arguments, {"case_sensitive", "attribute"});
  Items seen, items;
  for (const Value& item : ItemsOf(run, value)) {
    const Value key = SortKey(run, AttributePath(run, item, a[1]), Truth(a[0]));
    if (key.dict() || (key.list() && key.list()->kind == ListKind::kList)) {
      run.Fail("unique takes what can be a key");
    }
    if (std::ranges::any_of(seen, [&](const Value& other) { return Equal(run, key, other); })) {
      continue;
    }
    seen.push_back(key);
    items.push_back(item);
  }
  return run.NewList(ListKind::kGenerator, std::move(items));
}

template <int kSign>
Value Extreme(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "min", arguments, {"case_sensitive", "attribute"});
  const auto key = [&](const Value& item) {
    return SortKey(run, AttributePath(run, item, a[1]), Truth(a[0]));
  };
  const Items items = ItemsOf(run, value);
  if (items.empty()) return Value();
  size_t best = 0;
  for (size_t i = 1; i < items.size(); ++i) {
    if (kSign * Order(run, key(items[i]), key(items[best])) < 0) best = i;
  }
  return items[best];
}

Value SumFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "sum", arguments, {"attribute", "start"});
  Value sum = a[1].IsUndefined() ? Value(int64_t{0}) : a[1];
  if (sum.text() != nullptr) run.Fail("sum does not take texts");
  for (const Value& item : ItemsOf(run, value)) {
    sum = Arithmetic(run, "+", sum, AttributePath(run, item, a[0]));
  }
  return sum;
}

// The arguments without the first `count` positional ones.
Arguments Rest(const Arguments& arguments, size_t count) {
  Arguments rest = arguments;
  const auto skipped = static_cast<ptrdiff_t>(std::min(count, rest.positional.size()));
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + skipped);
  return rest;
}

template <bool kKeeps, bool kAttribute>
Value Select(Run& run, const Value& value, const Arguments& arguments) {
  const size_t named = kAttribute ? 1 : 0;
  if (arguments.positional.size() < named) run.Fail("the name of an attribute is missing");
  const bool has_test = arguments.positional.size() > named;
  const std::string test = has_test ? TextOf(run, arguments.positional[named]).bytes : "";
  const Arguments rest = Rest(arguments, named + 1);
  Items items;
  if (!Truth(value)) return run.NewList(ListKind::kGenerator, {});  // also for None, as in Jinja
  for (const Value& item : ItemsOf(run, value)) {
    const Value tested = kAttribute ? AttributePath(run, item, arguments.positional[0]) : item;
    const bool holds = has_test ? ApplyTest(run, test, tested, rest) : Truth(tested);
    if (holds == kKeeps) items.push_back(item);
  }
  return run.NewList(ListKind::kGenerator, std::move(items));
}

Value MapFilter(Run& run, const Value& value, const Arguments& arguments) {
  Items items;
  if (!Truth(value)) return run.NewList(ListKind::kGenerator, {});
  if (arguments.positional.empty()) {
    const Items a = BindArguments(run, "map", arguments, {"attribute", "default"});
    if (a[0].IsUndefined()) run.Fail("map needs a filter or an attribute");
    for (const Value& item : ItemsOf(run, value)) {
      const Value found = AttributePath(run, item, a[0]);
      items.push_back(found.IsUndefined() && !a[1].IsUndefined() ? a[1] : found);
    }
  } else {
    const std::string filter = TextOf(run, arguments.positional[0]).bytes;
    const Arguments rest = Rest(arguments, 1);
    for (const Value& item : ItemsOf(run, value)) {
      items.push_back(ApplyFilter(run, filter, item, rest));
    }
  }
  return run.NewList(ListKind::kGenerator, std::move(items));
}

// Lists of `size` items; the last one is padded if `fill` is given.
Value BatchFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "batch", arguments, {"linecount", "fill_with"}, 1);
  if (!IsInteger(a[0]) || IntegerOf(a[0]) < 1) run.Refuse("batch of such a size");
  const auto size = static_cast<size_t>(IntegerOf(a[0]));
  Items batches, batch;
  for (const Value& item : ItemsOf(run, value)) {
    if (batch.size() == size) {
      batches.push_back(run.NewList(ListKind::kList, std::exchange(batch, {})));
    }
    batch.push_back(item);
  }
  if (!batch.empty()) {
    const bool fills = !a[1].IsUndefined() && !a[1].IsNone();
    if (fills) run.Charge(size * sizeof(Value));
    if (fills) batch.resize(size, a[1]);
    batches.push_back(run.NewList(ListKind::kList, std::move(batch)));
  }
  return run.NewList(ListKind::kGenerator, std::move(batches));
}

Value AttrFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "attr", arguments, {"name"}, 1);
  if (value.dict() != nullptr || value.text() != nullptr || value.list() != nullptr) {
    run.Refuse("attr of such a value");
  }
  return ItemOf(run, value, a[0]);
}

constexpr auto kSequenceFilters = std::to_array<NamedValue<FilterFunction>>({
    {"length", LengthFilter},
    {"count", LengthFilter},
    {"list", ListFilter},
    {"first", FirstFilter},
    {"last", LastFilter},
    {"reverse", ReverseFilter},
    {"join", JoinFilter},
    {"items", ItemsFilter},
    {"sort", SortFilter},
    {"sum", SumFilter},
    {"dictsort", DictSortFilter},
    {"unique", UniqueFilter},
    {"map", MapFilter},
    {"batch", BatchFilter},
    {"attr", AttrFilter},
    {"min", Extreme<1>},
    {"max", Extreme<-1>},
    {"select", Select<true, false>},
    {"reject", Select<false, false>},
    {"selectattr", Select<true, true>},
    {"rejectattr", Select<false, true>},
});

}  // namespace

FilterFunction FindSequenceFilter(std::string_view name) {
  return ValueOf(kSequenceFilters, name).value_or(nullptr);
}

}  // namespace agentr::jinja
