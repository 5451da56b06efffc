#include "lm/jinja/loop.h"

#include <fmt/format.h>

namespace agentr::jinja {

std::optional<Value> Loop::Pull() {
  while (at_ < items_.size()) {
    const Value item = items_[at_++];
    if (!filter_ || filter_(item)) return item;
  }
  return std::nullopt;
}

const std::optional<Value>& Loop::Peek() {
  if (!next_) next_ = Pull();
  return *next_;
}

std::optional<Value> Loop::Next() {
  std::optional<Value> item = next_ ? std::move(*next_) : Pull();
  next_.reset();
  if (item) {
    ++index0_;
    previous_ = std::exchange(current_, item);
  }
  return item;
}

// All remaining items are filtered now, as in Jinja when a template uses the length.
int64_t Loop::Length() {
  Items rest;
  if (next_ && *next_) rest.push_back(**next_);
  if (!filter_) {
    const auto left = static_cast<int64_t>(items_.size() - at_ + rest.size());
    return left + index0_ + 1;
  }
  const bool ended = next_ && !*next_;
  next_.reset();
  while (auto item = Pull()) rest.push_back(std::move(*item));
  items_ = std::move(rest);
  at_ = 0;
  filter_ = nullptr;
  if (ended) next_ = std::optional<Value>();
  return static_cast<int64_t>(items_.size()) + index0_ + 1;
}

std::optional<Value> Loop::Attribute(Run& run, std::string_view name) {
  if (name == "index") return Value(index0_ + 1);
  if (name == "index0") return Value(index0_);
  if (name == "first") return Value(index0_ == 0);
  if (name == "last") return Value(!Peek());
  if (name == "length") return Value(Length());
  if (name == "revindex") return Value(Length() - index0_);
  if (name == "revindex0") return Value(Length() - index0_ - 1);
  if (name == "previtem") return previous_ ? *previous_ : Value(Undefined{"previtem"});
  if (name == "nextitem") return Peek() ? *Peek() : Value(Undefined{"nextitem"});
  if (name == "depth") return Value(int64_t{1});
  if (name == "depth0") return Value(int64_t{0});
  if (name == "cycle" || name == "changed") run.Refuse(fmt::format("loop.{}", name));
  return std::nullopt;
}

}  // namespace agentr::jinja
