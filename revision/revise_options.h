#pragma once

#include <cstdint>
#include <string>

#include "revision/actor_verifier.h"
#include "revision/choice.h"
#include "revision/splice.h"

namespace agentr {

class OptionSet;

// What decides about the rows of a tree.
struct ReviseOptions {
  std::string data_type = "centric";  // centric: revision rows; good: good paths
  int revise = 1;                     // 0: whole bad paths (Direct-Revision), as verifier none
  QualityThresholds choice;
  std::string pairing = "siblings";
  int max_pairs_per_task = 20;       // 0: no limit
  std::string verifier = "tree";     // tree | actor | none
  std::string verifier_prompt = "";  // file; empty: the built-in one of the family
  JudgeOptions judge;
  int max_row_tokens = -1;    // 0: rows of any length; -1: as judge.max_context
  std::string thoughts = "";  // file; empty: the built-in ones
  std::string revision_action = "wait";
  std::string revision_reply = "ok.";
  uint64_t seed = 0;

  int MaxRowTokens() const { return max_row_tokens < 0 ? judge.max_context : max_row_tokens; }

  // The verifier that these options mean.
  std::string Verifying() const { return data_type == "good" || revise == 0 ? "none" : verifier; }
};

void Declare(OptionSet& set, ReviseOptions& options);

}  // namespace agentr
