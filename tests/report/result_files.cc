#include "tests/report/result_files.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "eval/episode_file.h"
#include "mcts/tree_file.h"

namespace agentr {
namespace {

Node Turn(const std::string& action, const std::string& observation, End end = End::kNone,
          double reward = 0) {
  Node node;
  node.action = action;
  node.response = "Thought: so.\nAction: " + action;
  node.observation = observation;
  node.end = end;
  node.reward = reward;
  return node;
}

}  // namespace

Tree SmallTree(int task, const std::string& observation) {
  Tree tree({"textcraft", task, "hand", "hash", "{}"}, {{"user", "Craft."}, {"assistant", "Ok."}},
            "Crafting commands:\ncraft 4 stick using 2 oak planks\n\n" + observation);
  tree.Add(0, Turn("craft 1 stone", "Could not execute craft 1 stone"));
  const int got = tree.Add(0, Turn("get 2 oak planks", "Got 2 oak planks"));
  tree.BackUp(tree.Add(
      got, Turn("craft 4 stick using 2 oak planks", "Crafted 4 minecraft:stick", End::kDone, 1)));
  tree.BackUp(tree.Add(got, Turn("inventory", "Inventory: [oak planks] (2)", End::kDepth, 0)));
  return tree;
}

void WriteSmallTree(const std::filesystem::path& folder, const Tree& tree) {
  WriteFileAtomically(folder / fmt::format("search_results_{}.json", tree.origin().task_id),
                      WriteTree(tree, TreeFormat::kCompact));
}

void WriteSmallEpisode(const std::filesystem::path& folder, int task, double reward,
                       const std::optional<Slip>& slip) {
  Episode episode;
  episode.task_id = task;
  episode.reward = reward;
  episode.model = "hand";
  episode.instruction = {{"user", "Craft."}, {"assistant", "Ok."}};
  episode.first_observation = "Goal: craft stick.";
  episode.turns = {{{"Thought: so.\nAction: look", "look", "Could not execute look"}, true}};
  episode.turns[0].slip = slip;
  WriteFileAtomically(
      folder / fmt::format("search_results_{}.json", task),
      WriteEpisode(
          {episode, fmt::format(R"({{"task":"textcraft","model":"hand",{}"data_hash":"hash"}})",
                                slip ? R"("slip":0.1,)" : "")}));
}

void WriteSmallRows(const std::filesystem::path& folder, const std::string& trees) {
  using Json = nlohmann::ordered_json;
  const auto agent = [](const char* text, bool trained) {
    return Json{{"role", "assistant"}, {"content", text}, {"loss", trained}};
  };
  const auto reply = [](const char* text) { return Json{{"role", "user"}, {"content", text}}; };
  const Json row = {
      {"messages",
       {reply("Craft."), agent("Ok.", false), reply("Goal: craft stick."),
        agent("Thought: so.\nAction: craft 1 stone", false), reply("Could not execute"),
        agent("Thought: that did not work.\nAction: wait", true), reply("ok."),
        agent("Thought: so.\nAction: get 2 oak planks", true), reply("Got 2 oak planks"),
        agent("Thought: so.\nAction: craft 4 stick using 2 oak planks", true)}},
      {"provenance",
       {{"task", 7},
        {"nodes", {{"good", 3}, {"bad", 1}, {"ancestor", 0}, {"first_error", 1}}},
        {"mistake", "malformed"},
        {"bad_steps", 1},
        {"rewards", {{"good", 1}, {"bad", 0}, {"replay", 0.5}}},
        {"revision_length", {{"from_start", 1}, {"from_ancestor", 1}}},
        {"recovery", 0},
        {"replay", "verified"}}}};
  WriteFileAtomically(folder / "textcraft_centric.messages.jsonl", row.dump() + "\n");
  WriteFileAtomically(folder / "textcraft_centric.run.json",
                      Json{{"program", "path_collect"}, {"trees", trees}, {"rows", 1}}.dump());
}

}  // namespace agentr
