#include "servers/sciworld/libjvm_path.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

namespace agentr {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<fs::path> LibJvmOf(const fs::path& home) {
  fs::path library = home / "lib" / "server" / "libjvm.so";
  std::error_code error;
  if (!fs::is_regular_file(library, error)) return std::nullopt;
  return library;
}

// /usr/bin/java is a link, possibly through others, to <home>/bin/java.
std::optional<fs::path> HomeOnPath(std::string_view path) {
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    const fs::path java = fs::path(path.substr(0, end)) / "java";
    path.remove_prefix(std::min(end + 1, path.size()));
    std::error_code error;
    const fs::path real = fs::canonical(java, error);
    if (!error) return real.parent_path().parent_path();
  }
  return std::nullopt;
}

std::vector<fs::path> FoldersOf(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace

JavaPlaces JavaPlaces::OfEnvironment() {
  return {.java_home = Variable("JAVA_HOME"), .path = Variable("PATH")};
}

std::optional<fs::path> FindLibJvm(const JavaPlaces& places) {
  std::vector<fs::path> homes;
  if (!places.java_home.empty()) homes.emplace_back(places.java_home);
  if (const auto home = HomeOnPath(places.path)) homes.push_back(*home);
  for (const fs::path& home : FoldersOf(places.machines)) homes.push_back(home);
  for (const fs::path& home : homes) {
    if (const auto found = LibJvmOf(home)) return found;
  }
  return std::nullopt;
}

}  // namespace agentr
