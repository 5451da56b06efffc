// What the agent thinks at the moment it notices a mistake, and while it recovers from it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/random.h"

namespace agentr {

// Templates by what went wrong. In the text of a template {action} stands for the mistaken action
// (in a recovery: for the action taken), {reply} for what it was answered, {next} for the action
// that comes next.
class Thoughts {
 public:
  // A text such as configs/revision/thoughts.txt: one thought per line under headings
  // "[missing_item]"; what stands before the first heading belongs to "[any]". "#" comments and
  // empty lines do not count. Throws FatalError(kUsage) when it holds no thought for any mistake.
  static Thoughts Parse(std::string_view text);
  static const Thoughts& BuiltIn();

  struct Words {
    std::string_view action;
    std::string_view reply;
    std::string_view next;
  };

  // One of those for the first of `kinds` that has any, else of "any". Those with words that are
  // not there ({reply} when it is empty) are passed over.
  std::string Pick(const std::vector<std::string>& kinds, const Words& words,
                   RandomStream& random) const;

  const std::vector<std::string>& Of(const std::string& kind) const;

  // All of it, as text: two that are equal give the same thoughts.
  std::string Text() const;

 private:
  std::map<std::string, std::vector<std::string>> by_kind_;
};

}  // namespace agentr
