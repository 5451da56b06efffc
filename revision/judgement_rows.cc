#include "revision/judgement_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "clients/message_json.h"
#include "common/file.h"
#include "common/installed_file.h"
#include "common/json_depth.h"
#include "common/text.h"
#include "rows/provenance.h"

namespace agentr {
namespace {

struct JudgementCounts {
  int64_t trees = 0;
  int64_t good = 0;  // labels that were found
  int64_t bad = 0;
  int64_t rows = 0;
};

std::string AnswerOf(const StepLabel& label) {
  if (label.good) return "The step is on a way that leads to success.\nJudgement: Good";
  std::string mistake = label.mistake;
  std::ranges::replace(mistake, '_', ' ');
  return fmt::format("The step is a mistake: {}.\nJudgement: Bad", mistake);
}

}  // namespace

std::string JudgementLine(const Tree& tree, const StepLabel& label, const JudgementPrompt& prompt,
                          int64_t max_tokens, const std::string& file, int task_id) {
  std::vector<Message> messages;
  int dropped = 0;
  for (;; ++dropped) {
    messages = prompt.Query(tree, label.node, dropped);
    messages.push_back({"assistant", AnswerOf(label)});
    const bool fits = max_tokens == 0 || EstimateTokens(messages) <= max_tokens;
    if (fits || dropped + 1 >= tree.node(label.node).depth) break;
  }
  nlohmann::ordered_json row = {{"messages", MessagesToJson(messages)}};
  row["messages"].back()["weight"] = 1;
  row["messages"].back()["loss"] = true;
  row["provenance"] = {
      {"version", kRowVersion},
      {"tree", file},
      {"task", task_id},
      {"model", tree.origin().model},
      {"node", label.node},
      {"judgement", Name(label.good ? Judgement::kGood : Judgement::kBad)},
      {"mistake", label.good ? nlohmann::ordered_json() : nlohmann::ordered_json(label.mistake)},
      {"evidence", label.evidence},
      {"dropped_turns", dropped}};
  return DumpJson(row) + "\n";
}

ExitCode CollectJudgements(const PathCollectOptions& options, const OptionSet& resolved,
                           Workbench& /*workbench*/) {
  const ReviseOptions& revise = options.revise;
  const RandomStream random = RandomStream(revise.seed).Split("judgements");
  std::optional<JudgementPrompt> prompt;
  JudgementCounts counts;
  const auto make = [&](const Tree& tree, const TreeFile& file, const TaskFamily& family) {
    if (!prompt) {
      prompt = revise.verifier_prompt.empty()
                   ? JudgementPrompt::Of(family.name())
                   : JudgementPrompt(ReadFile(InstalledFile(revise.verifier_prompt)));
    }
    MistakeOptions finding = revise.mistakes;
    finding.choice = InTree(finding.choice, LeafPaths(tree), family.SuccessReward());
    std::vector<StepLabel> labels = LabelSteps(tree, StateMap(tree, family), family, finding);
    const int64_t good = std::ranges::count(labels, true, &StepLabel::good);
    ++counts.trees;
    counts.good += good;
    counts.bad += static_cast<int64_t>(labels.size()) - good;
    std::vector<std::string> lines;
    for (const StepLabel& label : Balanced(std::move(labels), revise.max_pairs_per_task,
                                           random.Split(static_cast<uint64_t>(file.task_id)))) {
      lines.push_back(JudgementLine(tree, label, *prompt, revise.MaxRowTokens(), file.path.string(),
                                    file.task_id));
      if (counts.rows++ < options.show) {
        fmt::print("row {}: {}\n  -> {}\n  {}\n\n", counts.rows,
                   EscapeControls(tree.node(label.node).action),
                   EscapeControls(tree.node(label.node).observation),
                   EscapeControls(AnswerOf(label)));
      }
    }
    return lines;
  };
  return CollectByTree(options, resolved, ".messages.jsonl", make, [&] {
    return std::pair(fmt::format("{} judgements of {} trees, of {} good and {} bad steps\n",
                                 counts.rows, counts.trees, counts.good, counts.bad),
                     nlohmann::ordered_json{{"trees", counts.trees},
                                            {"good", counts.good},
                                            {"bad", counts.bad},
                                            {"rows", counts.rows}});
  });
}

}  // namespace agentr
