// Finds Java's libjvm.so.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace agentr {

// The places to search, in this order.
struct JavaPlaces {
  std::string java_home;                            // $JAVA_HOME; empty: not set
  std::string path;                                 // $PATH: the program java on it
  std::filesystem::path machines = "/usr/lib/jvm";  // a folder for each Java

  static JavaPlaces OfEnvironment();
};

// Empty if there is none.
std::optional<std::filesystem::path> FindLibJvm(const JavaPlaces& places);

}  // namespace agentr
