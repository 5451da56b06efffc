// The parts that are records of a program: training and loop; and what all parts share.
#include <fmt/core.h>

#include <fstream>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "common/secret.h"
#include "report/report_parts.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// Earlier versions wrote addresses with passwords into their records.
void RedactTexts(Json& json) {
  if (json.is_string()) json = RedactSecrets(json.get<std::string>());
  if (!json.is_structured()) return;
  for (Json& part : json) RedactTexts(part);
}

}  // namespace

Json JsonOrNull(const fs::path& file) {
  if (!fs::exists(file)) return nullptr;
  auto json = ParseJson<Json>(ReadFile(file));
  if (json.is_discarded()) return nullptr;
  RedactTexts(json);
  return json;
}

std::vector<size_t> Spread(size_t count, int most) {
  const size_t taken = most > 0 ? std::min(count, static_cast<size_t>(most)) : count;
  std::vector<size_t> indices;
  for (size_t i = 0; i < taken; ++i) indices.push_back(i * count / taken);
  return indices;
}

Json CommonPart(const RunResult& result, const std::string& run_file, const std::string& toml_file,
                PackedItems& items) {
  Json part = {
      {"kind", NameOf(kResultKinds, result.kind)}, {"path", result.path.string()}, {"family", ""}};
  const Json run = JsonOrNull(run_file);
  part["run"] = nullptr;
  if (!run.is_null()) {
    const PackedItems::Place place = items.Add(run);
    part["run"] = {place.block, place.at};
  }
  part["toml"] = fs::exists(toml_file) ? Json(RedactSecrets(ReadFile(toml_file))) : Json();
  part["problems"] = Json::array();
  return part;
}

Json TrainingPart(const RunResult& result, PackedItems& items) {
  Json part = CommonPart(result, (result.path / "run.json").string(),
                         (result.path / "resolved.toml").string(), items);
  Json metrics = Json::array();
  std::ifstream lines(result.path / "metrics.jsonl");
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    auto json = ParseJson<Json>(line);
    if (json.is_object()) {
      metrics.push_back(std::move(json));
    } else if (!line.empty()) {
      part["problems"].push_back(fmt::format("metrics.jsonl, line {}: not a JSON object", number));
    }
  }
  part["metrics"] = std::move(metrics);
  return part;
}

Json LoopPart(const RunResult& result, PackedItems& items) {
  Json part = CommonPart(result, "", (result.path / "resolved.toml").string(), items);
  Json loop = JsonOrNull(result.path / "loop.json");
  part["stages"] = Json::array();
  if (loop.is_object() && loop.contains("stages") && loop["stages"].is_array()) {
    part["stages"] = std::move(loop["stages"]);
  } else {
    part["problems"].push_back("loop.json has no list of stages");
  }
  return part;
}

}  // namespace agentr
