// The variable `loop` of a for loop, and the items of the loop.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "lm/jinja/run.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

// Items are filtered only when they are needed, because the filter may depend on what the body of
// the loop did before.
class Loop {
 public:
  using Filter = std::function<bool(const Value&)>;
  // A null `filter` accepts all items.
  Loop(Items items, Filter filter) : items_(std::move(items)), filter_(std::move(filter)) {}

  std::optional<Value> Next();

  // index, first, previtem and so on; nullopt for an unknown name.
  std::optional<Value> Attribute(Run& run, std::string_view name);

 private:
  std::optional<Value> Pull();
  const std::optional<Value>& Peek();
  int64_t Length();

  Items items_;
  Filter filter_;
  size_t at_ = 0;  // position in items_; earlier items were used or filtered out
  int64_t index0_ = -1;
  std::optional<Value> previous_, current_;
  std::optional<std::optional<Value>> next_;  // the next item, if it was already filtered
};

}  // namespace agentr::jinja
