#pragma once

#include "clients/language_model.h"
#include "common/random.h"
#include "revision/judgement_prompt.h"
#include "revision/verifier.h"

namespace agentr {

class OptionSet;

struct JudgeOptions {
  double temperature = 0;
  int max_new_tokens = 500;  // per judgement
  int max_context = 8192;    // tokens of question and answer together; 0: unlimited
  int ahead = 1;             // steps of a path judged in parallel (FindFirstError)
};

void Declare(OptionSet& set, JudgeOptions& options);

// Asks the language model to judge steps of `tree`. If the question does not fit into the context,
// the oldest turns of the log are left out.
class ActorVerifier : public Verifier {
 public:
  // All references outlive the verifier. `random` is the tree's stream.
  ActorVerifier(const Tree& tree, LanguageModel& model, const JudgementPrompt& prompt,
                const JudgeOptions& options, RandomStream random)
      : tree_(tree), model_(model), prompt_(prompt), options_(options), random_(random) {}

  Result<StepJudgement> Judge(const PathPair& pair, int node) override;

 private:
  const Tree& tree_;
  LanguageModel& model_;
  const JudgementPrompt& prompt_;
  const JudgeOptions& options_;
  const RandomStream random_;
};

}  // namespace agentr
