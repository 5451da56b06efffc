#include "lm/weights/model_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "lm/weights/gguf_model.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kCachePrefix = "models--";

// The entries of a folder for which `wanted` holds, in the order of their names.
std::vector<fs::path> Entries(const fs::path& folder, bool (*wanted)(const fs::path& entry)) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (wanted(entry.path())) entries.push_back(entry.path());
  }
  std::ranges::sort(entries);
  return entries;
}

bool IsModelFolder(const fs::path& path) { return fs::exists(path / "config.json"); }

// "a, b and 3 more".
std::string List(const std::vector<fs::path>& paths) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, paths.size()); ++i) {
    text += (i == 0 ? "" : ", ") + paths[i].string();
  }
  if (paths.size() > kShown) text += fmt::format(" and {} more", paths.size() - kShown);
  return text;
}

// The folder in which Hugging Face's programs keep what they downloaded.
fs::path HubCache() {
  const auto variable = [](const char* name) -> fs::path {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const fs::path cache = variable("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const fs::path home = variable("HF_HOME"); !home.empty()) return home / "hub";
  return variable("HOME") / ".cache" / "huggingface" / "hub";
}

// For "OWNER/NAME", which is no folder here.
std::string WhereToGet(const std::string& name) {
  std::string cached(kCachePrefix);
  for (const char c : name) cached += c == '/' ? std::string("--") : std::string(1, c);
  const auto snapshots = Entries(HubCache() / cached / "snapshots", IsModelFolder);
  if (!snapshots.empty()) return fmt::format("give {}", snapshots.front().string());
  return fmt::format("nothing is downloaded by itself: \"hf download {} --local-dir DIR\" gets it",
                     name);
}

std::string AdapterMessage(const fs::path& folder) {
  const auto config = ParseJson(ReadFile(folder / "adapter_config.json"));
  const auto base = config.is_object() ? config.value("base_model_name_or_path", nlohmann::json())
                                       : nlohmann::json();
  return fmt::format(
      "is an adapter{}, not a model: merge it first (agent_train --merge_adapters 1 "
      "exports whole models, and peft has merge_and_unload)",
      base.is_string() ? " of " + base.get<std::string>() : "");
}

// What a folder without config.json is.
std::string FolderMessage(const fs::path& folder) {
  if (fs::exists(folder / "adapter_config.json")) return AdapterMessage(folder);
  const auto ggufs = Entries(folder, [](const fs::path& e) { return e.extension() == ".gguf"; });
  if (!ggufs.empty()) return fmt::format("holds GGUF files: give one of them, {}", List(ggufs));
  const auto snapshots = Entries(folder / "snapshots", IsModelFolder);
  if (!snapshots.empty()) {
    return fmt::format("is a folder of Hugging Face's cache: give {}", List(snapshots));
  }
  if (NameOf(folder).starts_with(kCachePrefix)) {
    return "is a folder of Hugging Face's cache without a complete snapshot: download the model "
           "again";
  }
  const auto inside = Entries(folder, IsModelFolder);
  if (!inside.empty()) return fmt::format("has no config.json: give {}", List(inside));
  return "has no config.json; --model_dir takes a folder with config.json, tokenizer.json and "
         "*.safetensors, or a *.gguf";
}

}  // namespace

void RequireModel(const fs::path& path) {
  const auto fail = [&](const std::string& message) {
    throw FatalError(ExitCode::kFile, fmt::format("{} {}", path.string(), message));
  };
  if (fs::is_directory(path)) {
    if (!IsModelFolder(path)) fail(FolderMessage(path));
    if (!fs::exists(path / "tokenizer.json")) {
      fail(
          "has no tokenizer.json: save the tokenizer in transformers' fast form there "
          "(AutoTokenizer.from_pretrained(…).save_pretrained(DIR))");
    }
    return;
  }
  if (IsGguf(path)) return;
  if (fs::exists(path) && IsModelFolder(path.parent_path())) {
    fail("is a file of a model: give its folder " + fs::absolute(path).parent_path().string());
  }
  std::string name = path.string();
  for (const std::string_view site : {"https://huggingface.co/", "https://hf.co/", "hf://"}) {
    if (name.starts_with(site)) name.erase(0, site.size());
  }
  const bool like_hub = !fs::exists(path) && std::ranges::count(name, '/') == 1 &&
                        !name.starts_with('/') && !name.starts_with('.') && !name.ends_with('/');
  fail("is neither a folder nor a GGUF file; " +
       (like_hub ? WhereToGet(name)
                 : std::string("--model_dir takes a folder with config.json, tokenizer.json and "
                               "*.safetensors, or a *.gguf")));
}

}  // namespace agentr
