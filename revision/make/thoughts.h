// The agent's thoughts when it notices a mistake and while it recovers from it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/random.h"

namespace agentr {

// Templates by kind of mistake. In a template {action} stands for the mistaken action (in a
// recovery, for the present action), {reply} for the reply to it, {next} for the next action, and
// {said} for what the agent had said where another action was done (Node::slip). {object} and
// {said_object} stand for what these two act on: "navy" of "click[navy]", "2 logs" of "get 2 logs".
class Thoughts {
 public:
  // Parses a text such as configs/revision/thoughts.txt: one thought per line under headings such
  // as "[missing_item]"; lines before the first heading belong to "[any]". "#" comments and empty
  // lines are ignored. Throws FatalError(kUsage) if "[any]" has no thought.
  static Thoughts Parse(std::string_view text);
  static const Thoughts& BuiltIn();
  // What a thinking model thinks before it says one of those (configs/revision/thinking.txt).
  static const Thoughts& BuiltInThinking();

  struct Words {
    std::string_view action;
    std::string_view reply;
    std::string_view next;
    std::string_view said = "";
  };

  // A random thought for the first of `kinds` that has any, else of "any". Templates whose words
  // are missing ({reply} if it is empty) are skipped.
  std::string Pick(const std::vector<std::string>& kinds, const Words& words,
                   RandomStream& random) const;

  const std::vector<std::string>& Of(const std::string& kind) const;

  // All templates as text; objects with equal texts give the same thoughts.
  std::string Text() const;

 private:
  std::map<std::string, std::vector<std::string>> by_kind_;
};

// "click" of "click[navy]": the kinds "slip click" and "recover click" are told by it.
std::string_view VerbOf(std::string_view action);

}  // namespace agentr
