#pragma once

#include <cstdint>
#include <string>

#include "revision/find/actor_verifier.h"
#include "revision/find/mistakes.h"
#include "revision/find/rollout_verifier.h"
#include "revision/make/preferences.h"
#include "revision/make/repair.h"

namespace agentr {

class OptionSet;

// The options that determine the rows of a tree.
struct ReviseOptions {
  // centric: revision rows; good: good paths; preferences: pairs of responses; judgements: of steps
  std::string data_type = "centric";
  int revise = 1;                         // 0: whole bad paths (Direct-Revision), as verifier none
  MistakeOptions mistakes;                // its choice and its pairing count for every verifier
  RepairOptions repair = {.action = ""};  // an empty action stands for the family's
  int max_pairs_per_task = 20;            // 0: unlimited
  double max_form_share = 0.5;  // of a task's rows, those that correct the form of an action
  PreferenceOptions preferences;
  std::string verifier = "tree";     // tree | actor | rollout | none
  std::string verifier_prompt = "";  // file; empty: the family's built-in one
  RolloutOptions rollout;
  JudgeOptions judge;
  int max_row_tokens = -1;              // 0: rows of any length; -1: as judge.max_context
  bool keep_diverged = false;           // rows whose replay was as good with other observations
  std::string unclean = "cut";          // turns that say more than one action: cut | drop | keep
  std::string turn_thoughts = "agree";  // of trained turns: keep | agree | rewrite
  std::string thoughts = "";            // file; empty: the built-in ones
  std::string revision_turn = "own";    // where the mistake is admitted: own | next | none
  // Of inserted turns in trees whose turns have thoughts: 0 (none) | 1 (the built-in ones) | a
  // file.
  std::string revision_thinking = "0";
  int repeats = 2;  // of a refused turn in the prompt of a preference, at most (CorrectionOf)
  uint64_t seed = 0;

  int MaxRowTokens() const { return max_row_tokens < 0 ? judge.max_context : max_row_tokens; }

  // The verifier that results from these options.
  std::string Verifying() const { return data_type == "good" || revise == 0 ? "none" : verifier; }
};

void Declare(OptionSet& set, ReviseOptions& options);

struct PipelineOptions {
  int in_flight = 8;       // trees in progress at once; twice as many are held in memory
  int give_up_after = 20;  // failed tasks in a row after which the run ends
};

}  // namespace agentr
