#include "revision/preference_rows.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "clients/message_json.h"
#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {
namespace {

using PreferenceJson = nlohmann::ordered_json;

PreferenceJson Sides(const auto& chosen, const auto& rejected) {
  return {{"chosen", chosen}, {"rejected", rejected}};
}

// The end of the prompt and both responses, for people.
void ShowPreference(const Tree& tree, const Preference& pair, int number) {
  fmt::print("pair {}, after {} turns: {}\n", number, tree.node(pair.parent).depth,
             EscapeControls(tree.node(pair.parent).observation));
  for (const auto& [name, side] :
       {std::pair("chosen", pair.chosen), std::pair("rejected", pair.rejected)}) {
    fmt::print("  {:8} {:.2f} of {:2} episodes: {}\n           -> {}\n", name, side.value,
               side.visits, EscapeControls(tree.node(side.node).response),
               EscapeControls(tree.node(side.node).observation));
  }
}

std::string PreferenceTable(const PreferenceCounts& c) {
  return fmt::format(
      "{} preferences of {} trees, out of {} pairs of siblings\n"
      "  left out: {} the same step, {} with few visits, {} of nearly equal value, {} both "
      "refused,\n"
      "            {} with an unclean better response, {} from different prompts,\n"
      "            {} that repeat a kept pair of steps, {} over the limits{}\n",
      c.pairs, c.trees, c.siblings, c.same_step, c.uncertain, c.close, c.refused, c.unclean,
      c.other_prompt, c.repeated, c.over_limit,
      c.slipped > 0 ? fmt::format(", {} whose better response slipped", c.slipped) : "");
}

}  // namespace

std::string PreferenceLine(const Tree& tree, const Preference& pair, const std::string& file,
                           int task_id) {
  const Node& chosen = tree.node(pair.chosen.node);
  const Node& rejected = tree.node(pair.rejected.node);
  const auto said = [](const Node& node) {
    return MessagesToJson({{"assistant", node.response, node.reasoning}});
  };
  PreferenceJson row = {
      {"prompt", MessagesToJson(tree.Conversation(pair.parent, chosen.dropped_turns))},
      {"chosen", said(chosen)},
      {"rejected", said(rejected)}};
  row["provenance"] = {
      {"tree", file},
      {"task", task_id},
      {"model", tree.origin().model},
      {"nodes",
       {{"prompt", pair.parent}, {"chosen", pair.chosen.node}, {"rejected", pair.rejected.node}}},
      {"values", Sides(pair.chosen.value, pair.rejected.value)},
      {"visits", Sides(pair.chosen.visits, pair.rejected.visits)},
      {"replies", Sides(chosen.observation, rejected.observation)},
      {"dropped_turns", chosen.dropped_turns}};
  return DumpJson(row) + "\n";
}

ExitCode CollectPreferences(const PathCollectOptions& options, const OptionSet& resolved,
                            Workbench& /*workbench*/) {
  const RandomStream random = RandomStream(options.revise.seed).Split("preferences");
  PreferenceCounts counts;
  int64_t shown = 0;
  const auto make = [&](const Tree& tree, const TreeFile& file, const TaskFamily& family) {
    std::vector<std::string> lines;
    for (const Preference& pair :
         LimitPreferences(FindPreferences(tree, StateMap(tree, family), family,
                                          options.revise.preferences, counts),
                          options.revise.max_pairs_per_task,
                          random.Split(static_cast<uint64_t>(file.task_id)), counts)) {
      lines.push_back(PreferenceLine(tree, pair, file.path.string(), file.task_id));
      if (shown < options.show) ShowPreference(tree, pair, static_cast<int>(++shown));
    }
    return lines;
  };
  return CollectByTree(options, resolved, ".jsonl", make, [&] {
    return std::pair(PreferenceTable(counts), FieldsToJson(kPreferenceFields, counts));
  });
}

}  // namespace agentr
