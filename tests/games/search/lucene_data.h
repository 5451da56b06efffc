// What Lucene itself made of some documents and queries, for tests; not part of the project.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace agentr {

// In the folder that AGENTR_SHARED names, else in ../shared beside the project; may not exist.
inline std::filesystem::path LuceneFolder() {
  const char* const shared = std::getenv("AGENTR_SHARED");
  const std::filesystem::path folder = shared != nullptr ? shared : AGENTR_SOURCE_DIR "/../shared";
  return folder / "data" / "lucene";
}

inline std::vector<std::string> LuceneLines(const std::string& file) {
  std::ifstream in(LuceneFolder() / file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The part of a line before its tab, and the part after it.
inline std::pair<std::string, std::string> SplitAtTab(const std::string& line) {
  const size_t tab = line.find('\t');
  return {line.substr(0, tab), line.substr(tab + 1)};
}

}  // namespace agentr
