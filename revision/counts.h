// What a run did, in numbers that add up over tasks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>

#include "revision/task_record.h"
#include "rollout/executor.h"

namespace agentr {

struct RevisionCounts {
  int64_t trees = 0;          // read
  int64_t without_good = 0;   // trees that have no good path
  int64_t without_pairs = 0;  // trees that have one, but no bad path beside it
  int64_t other_start = 0;    // trees of which the environment knows another beginning
  int64_t cache_hits = 0;     // trees whose decisions an earlier run had recorded
  int64_t paths = 0;          // ended leaves
  int64_t good_paths = 0;
  int64_t bad_paths = 0;  // bad beside some good path of the tree
  int64_t pairs_found = 0;
  int64_t mistakes_found = 0;    // different ones, each with any number of good paths
  int64_t duplicate_drafts = 0;  // pairs that came to the same actions as another one of the task
  int64_t contradictions = 0;    // pairs whose row would train the mistake on the same page
  int64_t pairs = 0;             // run (good paths, with data type good)
  std::map<std::string, int64_t> mistakes;  // of the rows, by TaskFamily::MistakeName
  std::map<int, int64_t> recoveries;        // of the rows, by the number of actions
  int64_t pruned_turns = 0;                 // of the rows: turns of their paths that were left out
  int64_t cut_turns = 0;                    // trained turns that went on behind their action
  int64_t unclean_rows = 0;  // rows left out for a trained turn with several actions or none
  std::map<int, int64_t> first_errors;  // by steps behind the ancestor, from 1; 0: none found
  std::array<int64_t, 3> judgements{};  // by Judgement
  int64_t unparsed = 0;                 // answers without a judgement, which are uncertain
  std::array<int64_t, 4> replays{};     // by ReplayOutcome
  int64_t ended_bad = 0;                // failed replays that were over before the first good turn
  int64_t too_long = 0;                 // rows left out because they exceed the context
  int64_t rows = 0;                     // before duplicates are dropped
  // Replays of this run: decisions that were recorded before do not count.
  int64_t episodes = 0;
  int64_t episode_turns = 0;
  ExecutionStats calls;

  RevisionCounts& operator+=(const RevisionCounts& other);
};

// Counts a decision.
void Count(const Decision& decision, RevisionCounts& counts);

nlohmann::ordered_json ToJson(const RevisionCounts& counts);

}  // namespace agentr
