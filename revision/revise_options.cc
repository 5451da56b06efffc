#include "revision/revise_options.h"

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, ReviseOptions& o) {
  set.Group("Revision");
  set.Add("--data_type", o.data_type, "centric: bad paths revised into good ones; good: good paths")
      .OneOf({"centric", "good"});
  set.Add("--revise", o.revise, "1: cut bad paths at their first error; 0: keep them whole")
      .Range(0, 1);
  set.Add("--alpha", o.choice.alpha, "Least reward of a good path", "ALPHA").Range(0, 1);
  set.Add("--beta", o.choice.beta, "A bad path is worse than its good partner by more than this",
          "BETA")
      .Range(0, 1);
  set.Add("--pairing", o.pairing,
          "siblings: a bad path with the good ones it parts from last; all: with every good one")
      .OneOf({"siblings", "all"});
  set.Add("--max_pairs_per_task", o.max_pairs_per_task,
          "Most pairs (good paths with --data_type good) of a task, chosen for diversity; 0: all")
      .Min(0);
  set.Add("--verifier", o.verifier,
          "Who finds the first error: tree (what was found behind a step), actor (the model of "
          "--model_dir or --llm_base), rollout (how often the policy succeeds from the states "
          "before and behind a step, in environments that fork), none")
      .OneOf({"tree", "actor", "rollout", "none"});
  set.Add("--min_evidence", o.min_evidence,
          "Verifier tree: ended paths behind an action that the environment took, before it counts "
          "as a mistake that nothing as good was found there")
      .Min(1);
  set.Add("--min_success", o.min_success,
          "Verifier tree: least share of the episodes behind the other actions from the same state "
          "that came as far as the good path, before an action that the environment took counts as "
          "a mistake")
      .Range(0, 1);
  set.Add("--notice", o.notice,
          "When the agent notices: first (right behind the first error), late (after up to "
          "--notice_steps further bad steps), mixed (either)")
      .OneOf({"first", "late", "mixed"});
  set.Add("--notice_steps", o.notice_steps, "Most further bad steps of a late notice").Min(0);
  set.Add("--prune", o.prune,
          "Steps that good paths and prefixes lose: effect (those that changed nothing), full "
          "(detours too, as far as the replay proves them needless), off (none)")
      .OneOf({"effect", "full", "off"});
  set.Add("--prefix_slips", o.prefix_slips, "Refused steps that a pruned prefix keeps").Min(0);
  set.Add("--max_recovery", o.max_recovery,
          "Most actions that lead from the mistake back to where the good path works, searched for "
          "in environments that fork; 0: none")
      .Range(0, 20);
  set.Add("--train_prefix", o.train_prefix,
          "true: train the steps before the mistake too (false: only what follows it)");
  set.Add("--keep_diverged", o.keep_diverged,
          "true: keep rows whose replay saw other observations than the search, too");
  set.Add("--unclean", o.unclean,
          "Trained turns that go on behind their action, have several actions or none: cut what "
          "can be cut and drop the other rows, drop them all, or keep them")
      .OneOf({"cut", "drop", "keep"});
  set.Add("--thoughts", o.thoughts,
          "File of revision thoughts by kind of mistake; none: built-in ones");
  set.Add("--revision_action", o.revision_action,
          "Action of the revision turn; none: wait, in SciWorld, where that lets time pass, task");
  set.Add("--revision_reply", o.revision_reply, "What the revision turn is answered");
  set.Add("--max_context", o.judge.max_context, "Tokens of a judgement, question and answer",
          "MAX_TOKEN_LENGTH")
      .Min(0);
  set.Add("--max_row_tokens", o.max_row_tokens,
          "Tokens of a row, counted with the tokenizer of --model_dir, else estimated: the oldest "
          "turns are left out; 0: rows of any length; -1: as --max_context")
      .Min(-1);
  set.Add("--seed", o.seed, "Seed of every random choice of the run");
  Declare(set, o.judge);
  set.Add("--verifier_prompt", o.verifier_prompt,
          "File with the question to the actor; none: the built-in one");
  Declare(set, o.rollout);
}

}  // namespace agentr
