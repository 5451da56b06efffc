#include "common/jsonl.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "common/json_depth.h"

namespace agentr {

JsonLinesReader::JsonLinesReader(std::filesystem::path path) : path_(std::move(path)), in_(path_) {
  if (!in_ || std::filesystem::is_directory(path_)) {
    throw FatalError(ExitCode::kFile, fmt::format("cannot read {}: {}", path_.string(),
                                                  in_ ? "it is a folder" : std::strerror(errno)));
  }
}

std::optional<nlohmann::json> JsonLinesReader::Next() {
  while (std::getline(in_, text_)) {
    ++line_;
    if (text_.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      return ParseJsonOrThrow(text_);
    } catch (const nlohmann::json::parse_error& error) {
      const bool last = in_.peek() == std::ifstream::traits_type::eof();
      throw FatalError(ExitCode::kFile,
                       fmt::format("{}:{}: not a JSON value at column {}{}", path_.string(), line_,
                                   error.byte, last ? " (the file may be cut off)" : ""));
    } catch (const nlohmann::json::out_of_range&) {
      throw FatalError(ExitCode::kFile, fmt::format("{}:{}: a number is beyond the range of double",
                                                    path_.string(), line_));
    }
  }
  return std::nullopt;
}

}  // namespace agentr
