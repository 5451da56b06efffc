// The numbers of an evaluation.
//
// Episodes that ended in an error of the environment or the model are counted by their end and
// enter nothing else. Those that ended at the limit of turns or of the context count with the
// reward they have. Of a revision test, turns that were replayed are not the agent's: they count
// neither as steps nor as refusals, loops or revisions. Means over episodes weigh each episode the
// same; reward and success are means over tasks of the means over attempts, so that each task
// weighs the same.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eval/bootstrap.h"
#include "rollout/episode.h"

namespace agentr {

struct MetricOptions {
  double success_threshold = 1.0;  // a reward of at least this is a success
  // By which an agent says that it revises. SciWorld has "wait" as an action of the game, too:
  // there every such turn counts.
  std::string revision_action = "wait";
  int longest_loop = 10;  // actions; longer loops are not looked for
  BootstrapOptions bootstrap;
};

// What k attempts give, over the tasks with at least k attempts with a result; others are left out.
struct AttemptMetrics {
  int k = 1;
  size_t tasks = 0;  // with k attempts or more
  double avg = 0;    // avg@k: mean reward, without bias: over all choices of k attempts, which is
                     // over all attempts
  double pass = 0;   // pass@k: at least one of k succeeds, without bias
};

struct EvalMetrics {
  int64_t episodes = 0;
  int64_t tasks = 0;
  std::array<int64_t, 5> ends{};  // episodes by EpisodeEnd
  int64_t with_result = 0;        // episodes that the rest is about
  int64_t successes = 0;          // episodes

  Estimate reward;                       // in [0, 1]
  Estimate success;                      // share, in [0, 1]
  std::vector<AttemptMetrics> attempts;  // k = 1, 2, 4, … and the most that a task has

  double mean_steps = 0;  // turns per episode
  int64_t steps = 0;
  int64_t refused = 0;    // steps that the environment did not take
  int64_t cut_steps = 0;  // steps before which the model was not shown all turns
  Usage usage;            // of the episodes with a result, together

  int64_t looping = 0;           // episodes with a repetition
  std::vector<int64_t> repeats;  // [L - 1]: repetitions of length L in all episodes (loops.h)

  int64_t revision_events = 0;      // steps that take the revision action
  int64_t revising = 0;             // episodes that have one
  double mean_revision_length = 0;  // steps before the first one, mean over those episodes
};

// With nothing to measure everything is 0.
EvalMetrics Measure(std::span<const Episode> episodes, const MetricOptions& options);

// Chance that at least one of k attempts drawn from n without putting back is among the c that
// succeeded: 1 - C(n-c, k) / C(n, k) (Chen et al. 2021), as a product that does not overflow.
// 0 <= c <= n, 1 <= k <= n.
double PassAtK(int64_t n, int64_t c, int64_t k);

}  // namespace agentr
