#pragma once

#include "clients/language_model.h"
#include "common/random.h"
#include "revision/find/judgement_prompt.h"
#include "revision/find/states.h"
#include "revision/find/verifier.h"

namespace agentr {

class OptionSet;

struct JudgeOptions {
  double temperature = 0;
  int max_new_tokens = 500;  // per judgement
  int max_context = 8192;    // tokens of question and answer together; 0: no limit
  bool evidence = false;     // the question tells what the search found behind the step
  bool refusals = false;     // also asks about steps that the environment refused
  int ahead = 1;             // steps of a path judged at once (FindFirstError)
};

void Declare(OptionSet& set, JudgeOptions& options);

// Asks the language model to judge steps of `tree`, except for those that the environment refused:
// they are bad in any case, and a weak model calls them good. If the question does not fit into the
// context, the oldest turns of the log are left out.
class ActorVerifier : public Verifier {
 public:
  // All references outlive the verifier. `random`: of the tree.
  ActorVerifier(const Tree& tree, const StateMap& states, LanguageModel& model,
                const JudgementPrompt& prompt, const JudgeOptions& options, RandomStream random)
      : tree_(tree),
        states_(states),
        model_(model),
        prompt_(prompt),
        options_(options),
        random_(random) {}

  Result<StepJudgement> Judge(const PathPair& pair, int node) override;

 private:
  std::string Evidence(int node) const;

  const Tree& tree_;
  const StateMap& states_;
  LanguageModel& model_;
  const JudgementPrompt& prompt_;
  const JudgeOptions& options_;
  const RandomStream random_;
};

}  // namespace agentr
