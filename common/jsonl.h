#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace agentr {

// Reads a JSON-lines file one value at a time in bounded memory; empty lines are skipped.
//   JsonLinesReader in("rows.jsonl");
//   while (auto row = in.Next()) …
class JsonLinesReader {
 public:
  // Throws FatalError(kFile) when the file cannot be opened.
  explicit JsonLinesReader(std::filesystem::path path);

  // The next value; nullopt at the end. Throws FatalError(kFile) "path:line: reason" on bad JSON.
  std::optional<nlohmann::json> Next();

  // Number of the line last returned, from 1.
  size_t line() const { return line_; }

 private:
  std::filesystem::path path_;
  std::ifstream in_;
  std::string text_;
  size_t line_ = 0;
};

}  // namespace agentr
