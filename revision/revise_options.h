#pragma once

#include <cstdint>
#include <string>

#include "revision/find/actor_verifier.h"
#include "revision/find/choice.h"
#include "revision/find/mistakes.h"
#include "revision/find/pairing.h"
#include "revision/find/rollout_verifier.h"
#include "revision/make/preferences.h"
#include "revision/make/pruning.h"
#include "revision/make/splice.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

// The options that determine the rows of a tree.
struct ReviseOptions {
  // centric: revision rows; good: good paths; preferences: pairs of responses
  std::string data_type = "centric";
  int revise = 1;  // 0: whole bad paths (Direct-Revision), as verifier none
  ValueThresholds choice;
  Pairing pairing = Pairing::kSiblings;
  int max_pairs_per_task = 20;  // 0: unlimited
  PreferenceOptions preferences;
  std::string verifier = "tree";     // tree | actor | rollout | none
  std::string verifier_prompt = "";  // file; empty: the family's built-in one
  RolloutOptions rollout;
  JudgeOptions judge;
  int max_row_tokens = -1;   // 0: rows of any length; -1: as judge.max_context
  int min_evidence = 3;      // ended leaves behind a taken action that count as proof
  double min_success = 0.5;  // of the episodes behind the other actions
  Notice notice = Notice::kFirst;
  int notice_steps = 3;  // most further bad steps of a late notice
  Prune prune = Prune::kFull;
  int prefix_slips = 2;                 // refused steps that the prefix keeps
  int good_slips = 0;                   // refused steps that a good path keeps
  int max_recovery = 6;                 // most recovery actions; 0: none
  bool train_prefix = false;            // the shared prefix is trained too
  bool keep_diverged = false;           // rows whose replay was as good with other observations
  std::string unclean = "cut";          // turns that say more than one action: cut | drop | keep
  std::string turn_thoughts = "agree";  // of trained turns: keep | agree | rewrite
  std::string thoughts = "";            // file; empty: the built-in ones
  std::string revision_action = "";     // empty: that of the family
  std::string revision_reply{TaskFamily::kRevisionReply};
  uint64_t seed = 0;

  int MaxRowTokens() const { return max_row_tokens < 0 ? judge.max_context : max_row_tokens; }

  // The verifier that results from these options.
  std::string Verifying() const { return data_type == "good" || revise == 0 ? "none" : verifier; }
};

void Declare(OptionSet& set, ReviseOptions& options);

}  // namespace agentr
