#include "training/metrics.h"

#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>

#include "common/error.h"
#include "common/file.h"
#include "common/json_fields.h"

namespace agentr {
namespace {

constexpr const char* kKindNames[kTargetKinds] = {"other", "good", "revision", "corrected"};

double WallClock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

nlohmann::ordered_json PartJson(const LossSums::Part& part) {
  return {{"loss", part.loss / part.weight},
          {"accuracy", part.correct / part.weight},
          {"tokens", part.weight}};
}

// The lines of steps up to `step`, without an incomplete last line.
std::string LinesUpTo(const std::filesystem::path& path, int64_t step) {
  std::string kept, line;
  std::ifstream in(path);
  while (std::getline(in, line)) {
    const auto value = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const bool whole =
        value.is_object() && value.contains("step") && IsJson<int64_t>(value["step"]);
    if (!whole || value["step"].get<int64_t>() > step) break;
    kept += line + "\n";
  }
  return kept;
}

void Flatten(const std::string& prefix, const nlohmann::ordered_json& values,
             std::vector<std::pair<std::string, double>>& scalars) {
  for (const auto& [name, value] : values.items()) {
    if (value.is_object()) Flatten(prefix + name + "/", value, scalars);
    if (value.is_number()) scalars.emplace_back(prefix + name, value.get<double>());
  }
}

}  // namespace

nlohmann::ordered_json ToJson(const LossSums& sums) {
  const LossSums::Part total = sums.Total();
  if (total.weight == 0) return nlohmann::ordered_json::object();
  nlohmann::ordered_json json = PartJson(total);
  json["perplexity"] = std::exp(total.loss / total.weight);
  for (size_t k = 0; k < kTargetKinds; ++k) {
    const LossSums::Part& part = sums.kinds[k];
    if (part.weight > 0 && part.weight < total.weight) json[kKindNames[k]] = PartJson(part);
  }
  return json;
}

Metrics::Metrics(const std::filesystem::path& folder, int64_t step)
    : path_(folder / "metrics.jsonl"), events_(folder, WallClock(), step) {
  WriteFileAtomically(path_, LinesUpTo(path_, step));
}

void Metrics::Add(const nlohmann::ordered_json& values) {
  std::ofstream out(path_, std::ios::app);
  out << values.dump() << "\n" << std::flush;
  if (!out) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: cannot write: {}", path_.string(), std::strerror(errno)));
  }
  std::vector<std::pair<std::string, double>> scalars;
  auto others = values;
  others.erase("step");
  Flatten("", others, scalars);
  events_.Add(values["step"], WallClock(), scalars);
}

}  // namespace agentr
