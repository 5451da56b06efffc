// By what an evaluation knows that the agent admits a mistake: the revision action, or words with
// which its thought begins, as in the rows of `path_collect --revision_turn next`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rollout/episode.h"

namespace agentr {

struct RevisionSigns {
  // A turn that takes this action is a revision and nothing else. In SciWorld "wait" is also an
  // action of the game, and every such turn counts.
  std::string action = "wait";
  // Templates of thoughts, in which "{said}", "{action}" and the like stand for any text.
  std::vector<std::string> thoughts = {};

  // True if the agent admits a mistake in this turn, in one way or the other. A turn that slipped
  // is judged by what the agent said.
  bool Revises(const EpisodeTurn& turn) const;
};

// The templates of a text such as configs/revision/thoughts.txt, in its order, without those of the
// headings that begin with "recover", which follow a revision. `name` is the file's name in
// messages. Throws FatalError(kUsage) if there are none.
std::vector<std::string> ParseRevisionThoughts(std::string_view text, const std::string& name);

// True if `thought` begins with the template.
bool BeginsWithTemplate(std::string_view thought, std::string_view text);

}  // namespace agentr
