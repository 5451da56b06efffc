#include "rows/dataset_card.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "common/json_depth.h"
#include "rows/row.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRunFile = ".run.json";
constexpr std::string_view kMark =
    "<!-- path_collect writes this file anew with each run; copy it before you change it. -->";

struct CardFile {
  const FormatNames* format = nullptr;
  std::string name;
};

struct CardRun {
  std::string stem;
  Json run;
  std::vector<CardFile> files;
};

// The value at a path of names, or null.
Json At(const Json& json, std::initializer_list<const char*> names) {
  const Json* at = &json;
  for (const char* name : names) {
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &(*at)[name];
  }
  return *at;
}

std::string Text(const Json& json, std::initializer_list<const char*> names) {
  const Json value = At(json, names);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "?" : value.dump();
}

// Token rows of one suffix are in one of two forms.
bool HasForm(const fs::path& file, const FormatNames& format) {
  if (format.format != DataFormat::kTokens && format.format != DataFormat::kSegments) return true;
  std::ifstream in(file);
  std::string begin(20, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.starts_with(fmt::format("{{\"{}\"", format.list));
}

std::vector<CardRun> RunsIn(const fs::path& folder) {
  std::vector<CardRun> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(kRunFile) || !entry.is_regular_file()) continue;
    Json run = ParseJson<Json>(ReadFile(entry.path()));
    if (Text(run, {"program"}) != "path_collect" || !At(run, {"rows"}).is_number()) continue;
    name.resize(name.size() - kRunFile.size());
    CardRun made{name, std::move(run), {}};
    for (const FormatNames& format : kFormats) {
      const fs::path file = folder / (name + std::string(format.suffix));
      if (!fs::exists(file) || !HasForm(file, format)) continue;
      made.files.push_back({&format, file.filename().string()});
    }
    if (!made.files.empty()) runs.push_back(std::move(made));
  }
  std::ranges::sort(runs, {}, &CardRun::stem);
  return runs;
}

// The columns of a format in the words of datasets' YAML, indented by four.
std::string Columns(DataFormat format) {
  constexpr std::string_view kRole = "      - name: role\n        dtype: string\n";
  constexpr std::string_view kContent = "      - name: content\n        dtype: string\n";
  constexpr std::string_view kLoss = "      - name: loss\n        dtype: bool\n";
  const auto column = [](std::string_view name, std::string_view type) {
    return fmt::format("    - name: {}\n      dtype: {}\n", name, type);
  };
  const auto numbers = [](std::string_view name, std::string_view type, int indent = 4) {
    return fmt::format("{0:{1}}- name: {2}\n{0:{1}}  list: {3}\n", "", indent, name, type);
  };
  const auto talk = [&](std::string_view name, std::string_view more = "") {
    return fmt::format("    - name: {}\n      list:\n{}{}{}", name, kRole, kContent, more);
  };
  const std::string provenance = column("provenance", "string");
  switch (format) {
    case DataFormat::kMessages:
    case DataFormat::kLastTurn:
      return talk("messages",
                  fmt::format("      - name: weight\n        dtype: int64\n{}", kLoss)) +
             provenance;
    case DataFormat::kShareGpt:
      return fmt::format(
          "    - name: conversations\n      list:\n      - name: from\n        dtype: string\n{}"
          "      - name: value\n        dtype: string\n{}{}",
          kLoss, column("item_id", "string"), provenance);
    case DataFormat::kAgentR:
      return column("task_num", "int64") + talk("revise_log", kLoss) + talk("high_log") +
             talk("low_log") + column("task_description", "string") + column("revise", "bool") +
             "    - name: revise_feedback\n      list:\n"
             "      - name: revision_feedback\n        dtype: string\n"
             "      - name: action\n        dtype: string\n"
             "      - name: obs\n        dtype: string\n"
             "      - name: judgement\n        dtype: string\n";
    case DataFormat::kTokens:
      return numbers("ids", "int32") + numbers("loss", "int8") + numbers("logprobs", "float32") +
             numbers("revision", "int32") + column("tokenizer", "string") +
             numbers("input_ids", "int32") + numbers("labels", "int32") + provenance;
    case DataFormat::kSegments:
      return fmt::format(
                 "    - name: segments\n      list:\n{}{}{}{}      - name: text\n"
                 "        dtype: string\n",
                 kRole, kLoss, numbers("ids", "int32", 6), numbers("logprobs", "float32", 6)) +
             provenance;
    case DataFormat::kPromptCompletion:
      return talk("prompt") + talk("completion") + provenance;
  }
  return "";
}

std::string ConfigName(const CardFile& file) {
  return file.name.substr(0, file.name.size() - std::string_view(".jsonl").size());
}

std::string Head(const std::vector<CardRun>& runs) {
  std::string configs, columns;
  for (const CardRun& run : runs) {
    for (const CardFile& file : run.files) {
      configs += fmt::format("- config_name: {}\n  data_files: {}\n", ConfigName(file), file.name);
      columns += fmt::format("- config_name: {}\n  features:\n{}", ConfigName(file),
                             Columns(file.format->format));
    }
  }
  return fmt::format(
      "---\npretty_name: Rows of agents that correct themselves\ntags:\n- agent\n"
      "- self-reflection\n- agentr\nconfigs:\n{}dataset_info:\n{}---\n",
      configs, columns);
}

std::string About(const CardRun& made) {
  const Json& run = made.run;
  std::string text = fmt::format(
      "## {}\n\n| | |\n|---|---|\n"
      "| rows | {}, of {} tasks; {} verified by playing them again |\n"
      "| trained turns | {} of {} |\n"
      "| made by | `path_collect` of agentr {}, from the trees in `{}` |\n"
      "| options | `{}.toml`, which `path_collect --config` takes |\n\n",
      made.stem, Text(run, {"rows"}), Text(run, {"audit", "tasks"}), Text(run, {"verified"}),
      Text(run, {"audit", "trained", "turns"}), Text(run, {"audit", "turns"}),
      Text(run, {"version"}), Text(run, {"trees"}), made.stem);
  text += "| file | configuration | format |\n|---|---|---|\n";
  for (const CardFile& file : made.files) {
    text += fmt::format("| `{}` | `{}` | {} |\n", file.name, ConfigName(file), file.format->name);
  }
  return text + "\n";
}

constexpr std::string_view kBody = R"(# Rows of agents that correct themselves

Each row is a conversation of a language-model agent with an environment: it begins as an attempt that failed, up to
the first error or a little later, then the agent says that it was wrong, and goes on as a better attempt did. Rows
without a failed attempt are good attempts alone. "provenance" says for each row where it comes from: the tree and its
nodes, the rewards, the mistake, and whether playing the row again gave the same observations.

Only the turn that admits the mistake and those after it are to be trained. What stands before is there to be read, and
a trainer that trains every turn of the assistant trains the mistakes.

| format | what marks the trained turns |
|---|---|
| messages | "weight" 1 and "loss" true of a message; 0 and false of what is not trained |
| sharegpt, agent-r | "loss" true |
| prompt_completion | the completion; a line for each trained turn |
| last_turn | the last message; a line for each trained turn |
| tokens | "labels", which are -100 where nothing is trained ("loss" 0) |

To train them:

- agentr: `agent_train --data FILE`, any of the formats
- TRL: the format prompt_completion; or messages with `assistant_only_loss` and a chat template that reads "weight"
  (`chat_template_training.jinja` of a model of agent_train, `.chat_template.jinja` beside the rows)
- LLaMA-Factory: `dataset_dir` this folder, the format last_turn, `mask_history: true`
- axolotl: messages, `type: chat_template`, `message_field_training: loss`, `train_on_eos: turn`
- xtuner: messages, with `openai_map_fn`

)";

void WriteReadme(const fs::path& folder, const std::vector<CardRun>& runs) {
  const fs::path path = folder / "README.md";
  if (fs::exists(path) && ReadFile(path).find(kMark) == std::string::npos) {
    spdlog::info("{} is not of path_collect and stays as it is", path.string());
    return;
  }
  std::string text = fmt::format("{}{}\n\n{}", Head(runs), kMark, kBody);
  for (const CardRun& run : runs) text += About(run);
  text.pop_back();
  WriteFileAtomically(path, text);
}

void WriteDatasetInfo(const fs::path& folder, const std::vector<CardRun>& runs) {
  const fs::path path = folder / "dataset_info.json";
  Json info = fs::exists(path) ? ParseJson<Json>(ReadFile(path)) : Json::object();
  if (!info.is_object()) {
    spdlog::warn("{} is not a JSON object, so the rows are not entered in it", path.string());
    return;
  }
  const Json before = info;
  for (const CardRun& run : runs) {
    for (const CardFile& file : run.files) {
      if (file.format->format != DataFormat::kLastTurn) continue;
      info[ConfigName(file)] = {{"file_name", file.name},
                                {"formatting", "sharegpt"},
                                {"columns", {{"messages", "messages"}}},
                                {"tags",
                                 {{"role_tag", "role"},
                                  {"content_tag", "content"},
                                  {"user_tag", "user"},
                                  {"assistant_tag", "assistant"},
                                  {"system_tag", "system"}}}};
    }
  }
  if (info != before) WriteFileAtomically(path, DumpJson(info, 2) + "\n");
}

}  // namespace

void WriteDatasetCard(const fs::path& folder) {
  const fs::path here = folder.empty() ? fs::path(".") : folder;
  const std::vector<CardRun> runs = RunsIn(here);
  if (runs.empty()) return;
  WriteReadme(here, runs);
  WriteDatasetInfo(here, runs);
}

}  // namespace agentr
