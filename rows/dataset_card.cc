#include "rows/dataset_card.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"
#include "rows/columns.h"
#include "rows/row.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRunFile = ".run.json";
constexpr std::string_view kMark =
    "<!-- path_collect writes this file anew with each run; copy it before you change it. -->";

struct CardRun {
  std::string stem;
  Json run;
  std::vector<RowFileOfRun> files;
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
    CardRun made{name, std::move(run), RowFilesOf(folder / name)};
    if (!made.files.empty()) runs.push_back(std::move(made));
  }
  std::ranges::sort(runs, {}, &CardRun::stem);
  return runs;
}

// In the words of datasets' YAML.
std::string Columns(const std::vector<Column>& columns, int indent) {
  const auto type = [](Column::Type of) {
    switch (of) {
      case Column::Type::kString:
        return "string";
      case Column::Type::kBool:
        return "bool";
      case Column::Type::kInt32:
        return "int32";
      case Column::Type::kInt64:
        return "int64";
      case Column::Type::kFloat:
        return "float32";
    }
    return "";
  };
  std::string text;
  for (const Column& column : columns) {
    text += fmt::format("{0:{1}}- name: {2}\n{0:{1}}  ", "", indent, column.name);
    if (!column.fields.empty()) {
      text += "list:\n" + Columns(column.fields, indent + 2);
    } else {
      text += fmt::format("{}: {}\n", column.list ? "list" : "dtype", type(column.type));
    }
  }
  return text;
}

std::string ConfigName(const RowFileOfRun& file) { return file.path.stem().string(); }
std::string FileName(const RowFileOfRun& file) { return file.path.filename().string(); }

std::string Head(const std::vector<CardRun>& runs) {
  std::string configs, columns;
  for (const CardRun& run : runs) {
    for (const RowFileOfRun& file : run.files) {
      configs +=
          fmt::format("- config_name: {}\n  data_files: {}\n", ConfigName(file), FileName(file));
      columns += fmt::format("- config_name: {}\n  features:\n{}", ConfigName(file),
                             Columns(ColumnsOf(file.format), 2));
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
  for (const RowFileOfRun& file : made.files) {
    text += fmt::format("| `{}` | `{}` | {} |\n", FileName(file), ConfigName(file),
                        NamesOf(file.format).name);
  }
  return text + "\n";
}

constexpr std::string_view kBody = R"(# Rows of agents that correct themselves

Each row is a conversation of a language-model agent with an environment: it begins as an attempt that failed, up to
the first error or a little later, then the agent says that it was wrong, and goes on as a better attempt did. Rows
without a failed attempt are good attempts alone. "provenance" says for each row where it comes from: the tree and its
nodes, the rewards, the mistake, and whether playing the row again gave the same observations.

What is to be trained is marked: the turn that admits the mistake and those after it, or a good attempt. The rest is
there to be read, and a trainer that trains every turn of the assistant trains the mistakes.

| format | what marks the trained turns |
|---|---|
| messages | "weight" 1 and "loss" true of a message; 0 and false of what is not trained |
| sharegpt, agent-r | "loss" true |
| prompt_completion | the completion; a line for each trained turn |
| last_turn | the last message; a line for each trained turn |
| tokens | "labels", which are -100 where nothing is trained ("loss" 0) |

The format preference has pairs instead: the turn that mends a refused step, and that step again.

A file `.parquet` beside one of these, where there is one, has the same rows as a table.

To train them:

- agentr: `agent_train --data FILE`, any of the formats
- TRL: the format prompt_completion; or messages with `assistant_only_loss` and a chat template that reads "weight"
  (`chat_template_training.jinja` of a model of agent_train, `.chat_template.jinja` beside the rows)
- TRL's DPOTrainer, or `agent_rl --algorithm dpo --pairs FILE`: the format preference
- LLaMA-Factory: `dataset_dir` this folder, the format last_turn, `mask_history: true`
- axolotl: messages, `type: chat_template`, `message_field_training: weight`
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

// Leaves out our entries whose file is gone.
void Clean(const fs::path& folder, Json& info) {
  for (auto entry = info.begin(); entry != info.end();) {
    const std::string file =
        entry->is_object() ? JsonFieldOr<std::string>(*entry, "file_name", "") : "";
    const bool gone = file.ends_with(".last_turn.jsonl") && !fs::exists(folder / file);
    entry = gone ? info.erase(entry) : std::next(entry);
  }
}

void WriteDatasetInfo(const fs::path& folder, const std::vector<CardRun>& runs) {
  const fs::path path = folder / "dataset_info.json";
  Json info = fs::exists(path) ? ParseJson<Json>(ReadFile(path)) : Json::object();
  if (!info.is_object()) {
    spdlog::warn("{} is not a JSON object, so the rows are not entered in it", path.string());
    return;
  }
  const Json before = info;
  Clean(folder, info);
  for (const CardRun& run : runs) {
    for (const RowFileOfRun& file : run.files) {
      if (file.format != DataFormat::kLastTurn) continue;
      info[ConfigName(file)] = {{"file_name", FileName(file)},
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

std::vector<RowFileOfRun> RowFilesOf(const fs::path& stem) {
  std::vector<RowFileOfRun> files;
  for (const FormatNames& format : kFormats) {
    const fs::path file = stem.string() + std::string(format.suffix);
    if (fs::exists(file) && HasForm(file, format)) files.push_back({format.format, file});
  }
  return files;
}

void WriteDatasetCard(const fs::path& folder) {
  const fs::path here = folder.empty() ? fs::path(".") : folder;
  const std::vector<CardRun> runs = RunsIn(here);
  if (runs.empty()) return;
  WriteReadme(here, runs);
  WriteDatasetInfo(here, runs);
}

}  // namespace agentr
