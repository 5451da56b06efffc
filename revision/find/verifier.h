// Judges whether a step of a bad path was wrong.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/named_values.h"
#include "mcts/tree.h"
#include "revision/find/share_estimate.h"

namespace agentr {

struct PathPair;

enum class Judgement { kGood, kBad, kUncertain };

inline constexpr std::array<NamedValue<Judgement>, 3> kJudgements = {
    {{"Good", Judgement::kGood}, {"Bad", Judgement::kBad}, {"Uncertain", Judgement::kUncertain}}};
constexpr std::string_view Name(Judgement judgement) { return NameOf(kJudgements, judgement); }

struct StepJudgement {
  Judgement judgement = Judgement::kUncertain;
  std::string reasons;  // reasons as text
  bool parsed = true;   // false: an answer without a judgement, which counts as uncertain
  std::optional<ValueChange> values = std::nullopt;  // where continuations were played

  bool operator==(const StepJudgement&) const = default;
};

// The reason for judging a refused step bad.
inline constexpr std::string_view kRefusedVerdict = "The environment refused it.";

// Thread-safe.
class Verifier {
 public:
  virtual ~Verifier() = default;

  // Judges the step that led to `node`, on the bad path of `pair` after its ancestor. An error
  // means that the whole path cannot be judged now.
  virtual Result<StepJudgement> Judge(const PathPair& pair, int node) = 0;
};

// Caches the judgements of `inner`, which must not depend on the good path: several pairs share a
// bad path, and bad paths share steps.
class CachingVerifier : public Verifier {
 public:
  explicit CachingVerifier(std::unique_ptr<Verifier> inner) : inner_(std::move(inner)) {}
  Result<StepJudgement> Judge(const PathPair& pair, int node) override;

 private:
  const std::unique_ptr<Verifier> inner_;
  std::mutex mutex_;
  std::map<int, StepJudgement> known_;  // by node; guarded by mutex_
};

}  // namespace agentr
