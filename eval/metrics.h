// The numbers of an evaluation.
//
// Episodes that ended in an error of the environment or the model only count in the numbers by end.
// Episodes that ended at the limit of turns or context, or at a cut turn, count with their present
// reward. Replayed
// turns of a revision test are not the agent's: they count neither as steps nor as refusals, loops
// or revisions. In means over episodes each episode has the same weight. Reward and success are
// means over tasks of the means over attempts, so each task has the same weight.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eval/bootstrap.h"
#include "eval/revision_signs.h"
#include "eval/slip_metrics.h"
#include "rollout/episode.h"

namespace agentr {

struct MetricOptions {
  double success_threshold = 1.0;  // a reward of at least this is a success
  RevisionSigns revisions = {};
  int longest_loop = 10;  // in actions; longer loops are not counted
  BootstrapOptions bootstrap;
  bool slips = false;       // the episodes were played with slips: count what follows them
  int revision_window = 5;  // steps after a slip in which a revision counts as one of it
};

// The results of k attempts, over the tasks that have at least k attempts with a result.
struct AttemptMetrics {
  int k = 1;
  size_t tasks = 0;  // with k attempts or more
  double avg = 0;    // avg@k: unbiased mean reward over all choices of k attempts, which equals the
                     // mean over all attempts
  double pass = 0;   // pass@k: unbiased probability that at least one of k attempts succeeds
};

struct EvalMetrics {
  int64_t episodes = 0;
  int64_t tasks = 0;
  std::array<int64_t, kEpisodeEnds.size()> ends{};  // episodes by EpisodeEnd
  int64_t with_result = 0;  // episodes with a result, to which the rest refers
  int64_t successes = 0;    // episodes

  Estimate reward;                       // in [0, 1]
  Estimate success;                      // share, in [0, 1]
  std::vector<AttemptMetrics> attempts;  // k = 1, 2, 4, … and the largest number of attempts of a
                                         // task

  double mean_steps = 0;  // turns per episode
  int64_t steps = 0;
  int64_t refused = 0;    // steps that the environment refused
  int64_t cut_steps = 0;  // steps whose prompt did not contain all turns
  Usage usage;            // sum over the episodes with a result

  int64_t looping = 0;           // episodes with a repetition
  std::vector<int64_t> repeats;  // [L - 1]: repetitions of length L in all episodes (loops.h)

  int64_t revision_events = 0;  // steps that admit a mistake
  int64_t revising = 0;         // episodes that have one
  // Runs of refused steps, each of them one error that an agent can notice, and those of them that
  // a revision turn ends. A turn with the revision action is no refused step. Of the revision turns
  // the share revised_errors / revision_events follows an error (precision); of the errors the
  // share revised_errors / errors is followed by one (recall).
  int64_t errors = 0;
  int64_t revised_errors = 0;
  double mean_revision_length = 0;  // steps before the first one, mean over those episodes

  std::optional<SlipMetrics> slips;  // with MetricOptions::slips
  int revision_window = 5;           // MetricOptions::revision_window
};

// Without episodes everything is 0.
EvalMetrics Measure(std::span<const Episode> episodes, const MetricOptions& options);

// The probability that k attempts, drawn from n without replacement, contain at least one of the c
// that succeeded: 1 - C(n-c, k) / C(n, k) (Chen et al. 2021), computed as a product that does not
// overflow. 0 <= c <= n, 1 <= k <= n.
double PassAtK(int64_t n, int64_t c, int64_t k);

}  // namespace agentr
