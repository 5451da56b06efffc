#include "games/textcraft/recipe_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"

namespace agentr {
namespace {

// Keeps the order of keys: the ingredients of a shaped recipe are listed in that order.
using Json = nlohmann::ordered_json;

// {"item": …} or {"tag": …}, or a list of these.
SourceIngredient ReadIngredient(const Json& json, int count) {
  const Json& first = json.is_array() ? json.at(0) : json;
  const bool tag = !first.contains("item");
  return {first.at(tag ? "tag" : "item").get<std::string>(), tag, count};
}

// The name behind "minecraft:".
std::string_view WithoutNamespace(std::string_view name) {
  constexpr std::string_view kNamespace = "minecraft:";
  return name.starts_with(kNamespace) ? name.substr(kNamespace.size()) : name;
}

size_t CountOf(const std::string& text, const std::string& key) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += key.size()) ++count;
  return count;
}

std::vector<SourceIngredient> ReadShaped(const Json& json) {
  std::vector<SourceIngredient> parts;
  for (const auto& [key, ingredient] : json.at("key").items()) {
    size_t count = 0;
    for (const Json& line : json.at("pattern")) {
      if (!key.empty()) count += CountOf(line.get_ref<const std::string&>(), key);
    }
    parts.push_back(ReadIngredient(ingredient, static_cast<int>(count)));
  }
  return parts;
}

std::vector<SourceIngredient> ReadShapeless(const Json& json) {
  std::vector<SourceIngredient> parts;
  for (const Json& ingredient : json.at("ingredients")) {
    SourceIngredient part = ReadIngredient(ingredient, 1);
    const auto same = std::ranges::find(parts, part.name, &SourceIngredient::name);
    if (same == parts.end()) {
      parts.push_back(std::move(part));
    } else {
      ++same->count;
    }
  }
  return parts;
}

// nullopt for a type that is not crafting.
std::optional<SourceRecipe> ReadRecipe(const Json& json) {
  SourceRecipe recipe;
  const auto type = json.at("type").get<std::string>();
  if (type == "minecraft:crafting_shaped") {
    recipe.ingredients = ReadShaped(json);
  } else if (type == "minecraft:crafting_shapeless") {
    recipe.ingredients = ReadShapeless(json);
  } else {
    return std::nullopt;
  }
  const Json& result = json.at("result");
  recipe.item = (result.is_string() ? result : result.at("item")).get<std::string>();
  if (result.is_object()) recipe.count = result.value("count", 1);
  if (recipe.count == 0) recipe.count = 1;
  if (json.contains("group")) recipe.group = "minecraft:" + json.at("group").get<std::string>();
  return recipe;
}

std::vector<std::filesystem::path> JsonFiles(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  if (error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("cannot read the recipe folder {}: {}; give --recipes a folder of "
                                 "Minecraft recipe files, or leave it out for the built-in book",
                                 folder.string(), error.message()));
  }
  std::ranges::sort(files, {}, [](const auto& path) { return path.filename().string(); });
  return files;
}

}  // namespace

std::vector<SourceRecipe> ReadRecipeFolder(const std::filesystem::path& folder) {
  std::vector<SourceRecipe> recipes;
  for (const std::filesystem::path& file : JsonFiles(folder)) {
    try {
      std::optional<SourceRecipe> recipe = ReadRecipe(ParseJsonOrThrow<Json>(ReadFile(file)));
      if (recipe) recipes.push_back(std::move(*recipe));
    } catch (const nlohmann::json::exception& error) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("{} is not a Minecraft recipe ({}); give --recipes a folder "
                                   "that contains no other *.json",
                                   file.string(), PlainFault(error)));
    }
  }
  if (recipes.empty()) {
    throw FatalError(ExitCode::kFile, fmt::format("{} contains no crafting recipe (*.json); give "
                                                  "--recipes the folder with the files themselves",
                                                  folder.string()));
  }
  return recipes;
}

void WriteRecipeFolder(std::span<const SourceRecipe> recipes, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (size_t i = 0; i < recipes.size(); ++i) {
    const SourceRecipe& recipe = recipes[i];
    Json json;
    json["type"] = "minecraft:crafting_shapeless";
    if (recipe.group) json["group"] = WithoutNamespace(*recipe.group);
    json["ingredients"] = Json::array();
    for (const SourceIngredient& part : recipe.ingredients) {
      for (int n = 0; n < part.count; ++n) {
        json["ingredients"].push_back({{part.tag ? "tag" : "item", part.name}});
      }
    }
    json["result"] = {{"item", recipe.item}, {"count", recipe.count}};
    WriteFileAtomically(folder / fmt::format("{:04}_{}.json", i, WithoutNamespace(recipe.item)),
                        json.dump(1) + "\n");
  }
}

}  // namespace agentr
