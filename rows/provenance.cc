#include "rows/provenance.h"

#include <fmt/core.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "common/error.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

BadPath BadPathOf(const Json& provenance) {
  const auto nodes = provenance.find("nodes");
  if (nodes == provenance.end() || !nodes->is_object()) return BadPath::kUnknown;
  const auto bad = nodes->find("bad");
  if (bad == nodes->end()) return BadPath::kUnknown;
  return bad->is_null() ? BadPath::kNone : BadPath::kNamed;
}

void RefuseOldRow(const Json& provenance) {
  if (!provenance.is_object() || !provenance.contains("tree")) return;
  const auto found = provenance.find("version");
  const bool told = found != provenance.end() && found->is_number_integer();
  if (told && *found >= kRowVersion) return;
  throw FatalError(ExitCode::kFile,
                   fmt::format("a row of version {}, as path_collect made them once, which trains "
                               "what stands before the mistake and refused actions too: make the "
                               "rows again from the same trees, path_collect --input_dir TREES",
                               told ? found->dump() : "1"));
}

void RefuseOldRowsBeside(const std::filesystem::path& rows) {
  std::filesystem::path beside = rows;
  beside.replace_extension(".provenance.jsonl");
  std::ifstream file(beside);
  std::string line;
  if (!std::getline(file, line)) return;
  try {
    RefuseOldRow(Json::parse(line, nullptr, /*allow_exceptions=*/false));
  } catch (const FatalError& error) {
    throw FatalError(error.code(), fmt::format("{}: {} says: {}", rows.string(),
                                               beside.filename().string(), error.what()));
  }
}

}  // namespace agentr
