// How an agent goes on after slips (rollout/slips.h): what an evaluation with slips counts besides
// EvalMetrics, and how much of the success without slips is left with them.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "common/sum_fields.h"
#include "eval/bootstrap.h"
#include "eval/revision_signs.h"
#include "rollout/episode.h"

namespace agentr {

// Sums over the episodes with a result. Turns that a revision test replayed do not count.
struct SlipMetrics {
  int64_t steps = 0;
  int64_t slips = 0;
  int64_t missed_slips = 0;     // turns that were to slip, but had no other action
  int64_t slipping = 0;         // episodes with a slip
  int64_t successes = 0;        // of the episodes with a slip
  int64_t refused_own = 0;      // refused steps that were no slip
  int64_t behind_refusals = 0;  // of those, the ones whose next turn but a revision does not slip
  int64_t said_again = 0;       // of those, the ones that the next such turn says again
  int64_t then_taken = 0;       // of those, the ones whose next such turn was not refused
  int64_t revisions = 0;        // revision turns
  int64_t revised_slips = 0;    // slips with a revision turn within the next `window` steps
  int64_t false_revisions = 0;  // revision turns without a slip or a refused step in the last
                                // `window` steps
  int64_t changing_slips = 0;   // Slip::changed_state
  int64_t undone_slips = 0;     // of those, the ones that were undone
  int64_t steps_to_undo = 0;    // sum over the slips that were undone
  int64_t ended_in_loop = 0;    // episodes whose last three actions said are equal, revision
                                // turns or not, or with those passed over

  SlipMetrics& operator+=(const SlipMetrics& other);
};

inline constexpr std::array<SumField<SlipMetrics>, 16> kSlipFields = {
    {{"steps", &SlipMetrics::steps},
     {"slips", &SlipMetrics::slips},
     {"missed_slips", &SlipMetrics::missed_slips},
     {"slipping_episodes", &SlipMetrics::slipping},
     {"slipping_successes", &SlipMetrics::successes},
     {"refused_own_steps", &SlipMetrics::refused_own},
     {"behind_refusals", &SlipMetrics::behind_refusals},
     {"said_again", &SlipMetrics::said_again},
     {"then_taken", &SlipMetrics::then_taken},
     {"revisions", &SlipMetrics::revisions},
     {"revised_slips", &SlipMetrics::revised_slips},
     {"false_revisions", &SlipMetrics::false_revisions},
     {"changing_slips", &SlipMetrics::changing_slips},
     {"undone_slips", &SlipMetrics::undone_slips},
     {"steps_to_undo", &SlipMetrics::steps_to_undo},
     {"ended_in_loop", &SlipMetrics::ended_in_loop}}};
static_assert(NamesEveryField(kSlipFields));

struct SlipMetricOptions {
  double success_threshold = 1.0;
  RevisionSigns revisions = {};
  int window = 5;  // steps
  BootstrapOptions bootstrap = {};
};

SlipMetrics MeasureSlips(std::span<const Episode> episodes, const SlipMetricOptions& options);

// The counts, with "window" and "mean_steps_to_undo" (null if no slip was undone).
nlohmann::ordered_json SlipJson(const SlipMetrics& metrics, int window);

// What an evaluation, or all of an arm, counts.
struct SlipColumn {
  SlipMetrics metrics;
  int64_t episodes = 0;  // with a result
};

// Lines for people, with a column for each.
std::string SlipTable(std::span<const SlipColumn> columns, int window);

// Wide enough for the text of a column and the space after it.
inline constexpr int kSlipNameWidth = 20, kSlipColumnWidth = 40;

// How two evaluations of the same tasks go on after slips.
struct SlipComparison {
  SlipColumn a, b;
  int window = 0;
  // Of the evaluation with slips to the one without, if only one has them and nothing else that
  // decides what is played differs; else `why_none` says why there is none.
  Estimate recovery_rate = {};
  // Pairs of the same task and attempt that succeed without slips and slip in the other evaluation,
  // and those of them that succeed there too. Unlike the rate it leaves out the episodes that fail
  // anyway, some of which a slip only helps out of a loop.
  int64_t at_stake = 0, kept = 0;
  std::string why_none = "";
};

// nullopt if neither was played with slips. `options_a`, `options_b`: what decided what was played
// (StoredEpisode::options), with the revision action of each; `options.revisions.action` is that of
// one that names none.
std::optional<SlipComparison> CompareSlips(std::span<const Episode> a, std::span<const Episode> b,
                                           const std::string& options_a,
                                           const std::string& options_b,
                                           const SlipMetricOptions& options);

std::string SlipComparisonTable(const SlipComparison& comparison);
nlohmann::ordered_json SlipComparisonJson(const SlipComparison& comparison);

// The success with slips over that without: sums over the pairs of episodes of the same task and
// attempt that both have a result, each task with the same weight, with the interval over tasks
// (BootstrapRatio). `tasks` is the number of tasks with such a pair; 0, and nothing is known, also
// if no episode without slips succeeded.
Estimate RecoveryRate(std::span<const Episode> without, std::span<const Episode> with,
                      double success_threshold, const BootstrapOptions& bootstrap);

}  // namespace agentr
