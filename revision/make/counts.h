// The counts of a run, which can be summed over tasks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "common/sum_fields.h"
#include "rollout/executor.h"

namespace agentr {

struct Decision;

struct RevisionCounts {
  int64_t trees = 0;          // read
  int64_t without_good = 0;   // trees that have no good path
  int64_t without_pairs = 0;  // trees with a good path but no bad one compared with it
  int64_t other_start = 0;    // trees whose task begins differently in the environment
  int64_t cache_hits = 0;     // trees whose decisions an earlier run recorded
  int64_t paths = 0;          // ended leaves
  int64_t good_paths = 0;
  std::optional<double> best_reward;  // the greatest of all paths; empty: there was no path
  int64_t bad_paths = 0;              // bad compared with some good path of the tree
  int64_t pairs_found = 0;
  int64_t mistakes_found = 0;    // distinct mistakes, each with any number of good paths
  int64_t duplicate_drafts = 0;  // pairs that gave the same actions as another pair of the task
  int64_t contradictions = 0;    // pairs whose row would train the mistaken action in its state
  int64_t pairs = 0;             // pairs that were run (with data type good: good paths)
  std::map<std::string, int64_t> mistakes;  // of the rows, by RevisionHints::MistakeName
  std::map<int, int64_t> recoveries;        // of the rows, by the number of actions
  int64_t pruned_turns = 0;                 // turns left out of the paths of rows
  int64_t cut_turns = 0;                    // trained turns with text after their action
  int64_t rewritten_turns = 0;              // trained turns that got another thought
  int64_t disagreeing_rows = 0;   // rows left out for a thought that contradicts its action
  int64_t disagreeing_turns = 0;  // turns before a mistake that are not trained for such a thought
  int64_t unclean_rows = 0;       // rows left out for a trained turn with several actions or none
  std::map<int, int64_t> first_errors;  // by steps after the ancestor, from 1; 0: none found
  std::array<int64_t, 3> judgements{};  // by Judgement
  int64_t unparsed = 0;                 // answers without a judgement, which count as uncertain
  std::array<int64_t, 4> replays{};     // by ReplayOutcome
  int64_t ended_bad = 0;                // failed replays that ended before the first good turn
  int64_t too_long = 0;                 // rows left out because they exceed the context
  int64_t rows = 0;                     // before duplicates are dropped
  // Replays of this run, without decisions that were already recorded.
  int64_t episodes = 0;
  int64_t episode_turns = 0;
  ExecutionStats calls;

  RevisionCounts& operator+=(const RevisionCounts& other);
};

// The members that are simple sums, by name.
inline constexpr std::array<SumField<RevisionCounts>, 25> kRevisionSums = {
    {{"trees", &RevisionCounts::trees},
     {"without_good", &RevisionCounts::without_good},
     {"without_pairs", &RevisionCounts::without_pairs},
     {"other_start", &RevisionCounts::other_start},
     {"cache_hits", &RevisionCounts::cache_hits},
     {"paths", &RevisionCounts::paths},
     {"good_paths", &RevisionCounts::good_paths},
     {"bad_paths", &RevisionCounts::bad_paths},
     {"pairs_found", &RevisionCounts::pairs_found},
     {"mistakes_found", &RevisionCounts::mistakes_found},
     {"duplicate_drafts", &RevisionCounts::duplicate_drafts},
     {"contradictions", &RevisionCounts::contradictions},
     {"pairs", &RevisionCounts::pairs},
     {"pruned_turns", &RevisionCounts::pruned_turns},
     {"cut_turns", &RevisionCounts::cut_turns},
     {"rewritten_turns", &RevisionCounts::rewritten_turns},
     {"disagreeing_rows", &RevisionCounts::disagreeing_rows},
     {"disagreeing_turns", &RevisionCounts::disagreeing_turns},
     {"unclean_rows", &RevisionCounts::unclean_rows},
     {"unparsed", &RevisionCounts::unparsed},
     {"ended_bad", &RevisionCounts::ended_bad},
     {"too_long", &RevisionCounts::too_long},
     {"rows_before_dedup", &RevisionCounts::rows},
     {"episodes", &RevisionCounts::episodes},
     {"episode_turns", &RevisionCounts::episode_turns}}};

// Those that arise while decisions are made, so that a task's record keeps them (task_record.h).
inline constexpr std::array<SumField<RevisionCounts>, 6> kDecidingSums = {
    {{"without_pairs", &RevisionCounts::without_pairs},
     {"bad_paths", &RevisionCounts::bad_paths},
     {"pairs_found", &RevisionCounts::pairs_found},
     {"mistakes_found", &RevisionCounts::mistakes_found},
     {"duplicate_drafts", &RevisionCounts::duplicate_drafts},
     {"contradictions", &RevisionCounts::contradictions}}};

// Counts a decision.
void Count(const Decision& decision, RevisionCounts& counts);

}  // namespace agentr
