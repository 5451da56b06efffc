#pragma once

namespace agentr {

// Successes among trials, with the 95 % interval of Wilson (1927) for their probability.
struct ShareEstimate {
  int successes = 0;
  int trials = 0;

  double low() const;
  double high() const;

  bool operator==(const ShareEstimate&) const = default;
};

// How often the policy succeeds from the state before a step and from the one behind it.
struct ValueChange {
  ShareEstimate before;
  ShareEstimate behind;

  bool operator==(const ValueChange&) const = default;
};

}  // namespace agentr
