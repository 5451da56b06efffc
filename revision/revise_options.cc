#include "revision/revise_options.h"

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, ReviseOptions& o) {
  set.Group("Revision");
  set.Add(
         "--data_type", o.data_type,
         "centric: bad paths revised into good ones; good: good paths; preferences: pairs of a "
         "better and a worse response to the same prompt, by the values of the search; judgements: "
         "the verifier actor's question about a step, and what the search proves of it. The last "
         "two "
         "have one format, whatever --format says")
      .OneOf({"centric", "good", "preferences", "judgements"});
  set.Add("--revise", o.revise, "1: cut bad paths at their first error; 0: keep them whole")
      .Range(0, 1);
  set.Add("--alpha", o.mistakes.choice.alpha, "Smallest reward of a good path", "ALPHA")
      .Range(0, 1);
  set.Add("--beta", o.mistakes.choice.beta,
          "A bad path is worse than its good partner by more than this", "BETA")
      .Range(0, 1);
  set.Add("--good_margin", o.mistakes.choice.margin,
          "A good path is worse than the best one of its tree by at most this; 1: alpha alone "
          "decides")
      .Range(0, 1);
  set.AddNamed(
      "--pairing", o.mistakes.pairing, kPairings,
      "Good paths that repair a mistake: siblings, those that leave the bad path latest; all, also "
      "those that leave it earlier");
  set.Add("--max_pairs_per_task", o.max_pairs_per_task,
          "Largest number of pairs (with --data_type good: good paths) of a task, chosen for "
          "diversity (preferences: at random); 0: all")
      .Min(0);
  Declare(set, o.preferences);
  set.Add("--verifier", o.verifier,
          "How the first error is found: tree (by the results of the search after a step), actor "
          "(by the model of --model_dir or --llm_base), rollout (by how often the policy succeeds "
          "from the states before and after a step, in environments that fork), none")
      .OneOf({"tree", "actor", "rollout", "none"});
  set.Add("--min_evidence", o.mistakes.min_evidence,
          "Verifier tree: ended paths after an accepted action, none of them as good, before it "
          "counts as a mistake")
      .Min(1);
  set.Add("--min_success", o.mistakes.min_success,
          "Verifier tree: of the episodes that took other actions in the same state, the smallest "
          "share that must be as good as the good path before an accepted action counts as a "
          "mistake")
      .Range(0, 1);
  set.Add(
         "--max_form_share", o.max_form_share,
         "Of the rows of a task, the largest share that corrects the form of an action (malformed, "
         "not on the page, not offered, not understood, ambiguous) rather than a decision; 1: any")
      .Range(0, 1);
  set.AddNamed("--notice", o.mistakes.notice, kNotices,
               "When the agent notices: first (directly after the first error), late (after up to "
               "--notice_steps further bad steps; a refusal is noticed behind a refused step), "
               "mixed (either)");
  set.Add("--notice_steps", o.mistakes.notice_steps,
          "Largest number of further bad steps of a late notice")
      .Min(0);
  set.AddNamed(
      "--prune", o.repair.prune, kPrunes,
      "Steps to remove from good paths and prefixes: effect (steps that changed nothing), full "
      "(also detours that the replay proves needless), off (none)");
  set.Add("--prefix_slips", o.repair.prefix_slips, "Refused steps that a pruned prefix keeps")
      .Min(0);
  set.Add("--max_recovery", o.repair.max_recovery,
          "Largest number of actions from the mistake back to a state where the good path works, "
          "searched for in environments that fork; 0: none")
      .Range(0, 20);
  set.Add("--train_prefix", o.repair.train_prefix,
          "true: also train the steps before the mistake (false: only the turns after it)")
      .OnlyOutput();
  set.Add("--keep_diverged", o.keep_diverged,
          "true: also keep rows whose replay had other observations than the search");
  set.Add("--unclean", o.unclean,
          "Trained turns with text after their action, with several actions or none: cut the text "
          "if possible and drop the other rows, drop all such rows, or keep them")
      .OneOf({"cut", "drop", "keep"})
      .OnlyOutput();
  set.Add("--turn_thoughts", o.turn_thoughts,
          "Thoughts of trained turns: keep (as they are), agree (leave out rows in which a thought "
          "contradicts its action; before the mistake such a turn is left untrained), rewrite "
          "(replace them by the words of the demonstrations where the kind of task has such words, "
          "as TextCraft and WebShop have; else as agree)")
      .OneOf({"keep", "agree", "rewrite"})
      .OnlyOutput();
  set.Add("--good_slips", o.repair.good_slips,
          "Refused steps that a pruned good path keeps, if a step that worked follows them; they "
          "are not trained")
      .Min(0);
  set.Add("--thoughts", o.thoughts,
          "File of revision thoughts by kind of mistake (default: the built-in ones)");
  set.Add("--revision_thinking", o.revision_thinking,
          "Thought before the inserted turns (revision and recovery) of a tree whose turns have "
          "thoughts: 0 (none), 1 (our own sentences), or a file of them in the form of --thoughts")
      .OnlyOutput();
  set.Add(
         "--revision_turn", o.revision_turn,
         "Where the agent admits its mistake: own (in a turn of its own, as Agent-R), next (in the "
         "thought of the next turn, where it sees the page), none (nowhere: for comparisons, the "
         "correction alone)")
      .OneOf({"own", "next", "none"})
      .OnlyOutput();
  set.Add(
      "--revision_action", o.repair.action,
      "Action of the revision turn (default: wait; in SciWorld, where that lets time pass, task)");
  set.Add(
      "--revision_reply", o.repair.reply,
      "Reply to the revision turn if it changes nothing; empty: what the environment answers in "
      "the replay, as in TextCraft with --revision_action inventory");
  set.Add("--preference_repeats", o.repeats,
          "Format preference: the refused turn stands in the prompt up to this many more times, "
          "drawn evenly, so that it is not said a third time either")
      .Range(0, 20)
      .OnlyOutput();
  set.Add("--max_context", o.judge.max_context,
          "Largest number of tokens that a verifier's model reads and writes for one answer",
          "MAX_TOKEN_LENGTH")
      .Min(0);
  set.Add("--max_row_tokens", o.max_row_tokens,
          "Tokens of a row, counted with the tokenizer of --model_dir, else estimated; the oldest "
          "turns are left out to fit; 0: rows of any length; -1: as --max_context")
      .Min(-1)
      .OnlyOutput();
  set.Add("--seed", o.seed, "Seed of every random choice of the run");
  Declare(set, o.judge);
  set.Add("--verifier_prompt", o.verifier_prompt,
          "File with the question to the actor (default: the built-in one)");
  Declare(set, o.rollout);
}

}  // namespace agentr
