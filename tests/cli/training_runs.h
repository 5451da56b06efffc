// Runs of agent_train on a tiny model and made-up rows, in a folder of their own.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/hash.h"
#include "common/random.h"
#include "tests/cli/program.h"
#include "tests/lm/tiny_model_folder.h"

namespace agentr {

namespace fs = std::filesystem;

// Rows of `tasks` tasks, several each, that begin alike.
inline std::string Rows(int tasks) {
  static const char* const kWords[] = {"take",  "oak", "log",   "craft", "planks", "look",
                                       "stick", "get", "table", "iron",  "open",   "door"};
  std::string text;
  for (int task_id = 0; task_id < tasks; ++task_id) {
    for (int row = 0; row < 3; ++row) {
      RandomStream stream = RandomStream(7).Split(task_id);
      auto messages = nlohmann::json::array();
      messages.push_back({{"role", "user"}, {"content", fmt::format("Task {}: craft", task_id)}});
      for (int turn = 0; turn < 3; ++turn) {
        if (turn == row) stream = stream.Split(row);
        std::string action = "Action:";
        for (int i = 0; i < 4; ++i) action += fmt::format(" {}", kWords[stream.Below(12)]);
        messages.push_back({{"role", "assistant"}, {"content", action}, {"loss", true}});
        messages.push_back({{"role", "user"}, {"content", "Nothing happens."}});
      }
      messages.erase(messages.size() - 1);
      text += nlohmann::json{{"task_num", task_id}, {"messages", messages}}.dump() + "\n";
    }
  }
  return text;
}

class TrainingRuns : public ::testing::Test {
 protected:
  TrainingRuns() {
    WriteTinyModel(folder_.path() / "tiny");
    WriteFileAtomically(folder_.path() / "rows.jsonl", Rows(30));
  }

  // `more`: flags with their values, which may be others than those that stand here.
  std::vector<std::string> Arguments(const std::string& name,
                                     const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> flags = {
        {"--model_dir", "tiny"}, {"--data", "rows.jsonl"}, {"--name", name},
        {"--max_length", "512"}, {"--lr", "3e-3"},         {"--batch_rows", "12"},
        {"--held_out", "0.1"},   {"--save_every", "2"},    {"--batch_tokens", "600"},
        {"--eval_every", "5"},   {"--epochs", "4"},        {"--model_threads", "1"}};
    for (const auto& [flag, value] : more) flags[flag] = value;
    std::vector<std::string> arguments;
    for (const auto& [flag, value] : flags) arguments.insert(arguments.end(), {flag, value});
    return arguments;
  }
  Outcome Train(const std::string& name, const std::map<std::string, std::string>& more = {},
                const std::map<std::string, std::string>& env = {}) const {
    return RunProgram("agent_train", Arguments(name, more), folder_.path(), env);
  }
  fs::path Result(const std::string& name) const { return folder_.path() / "train_result" / name; }

  // What a run leaves, without times.
  std::string Left(const std::string& name) const {
    std::string text = Sha256(ReadFile(Result(name) / "model/model.safetensors")) + "\n";
    for (auto line : ReadRows(Result(name) / "metrics.jsonl")) {
      line.erase("speed");
      text += line.dump() + "\n";
    }
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(Result(name) / "checkpoints")) {
      files.insert(entry.path().filename().string());
    }
    return text + fmt::format("{}", fmt::join(files, " "));
  }

  size_t Lines(const std::string& name) const {
    const fs::path path = Result(name) / "metrics.jsonl";
    return fs::exists(path) ? std::ranges::count(ReadFile(path), '\n') : 0;
  }

  ScratchFolder folder_;
};

}  // namespace agentr
