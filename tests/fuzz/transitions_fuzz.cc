// Any bytes as the transitions of a run are either refused, or transitions that can be read and lie
// in the finished episodes at most once. The bytes are the records' bodies, each behind its length
// in one byte, and get right heads and checksums; with 1 as the first byte they are the whole file.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "common/error.h"
#include "rl/transition_store.h"
#include "tests/fuzz/fuzz_input.h"
#include "training/tensorboard.h"

using agentr::Check;

namespace {

template <typename T>
void Append(std::string& file, T value) {
  file.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string FileOf(std::string_view bodies) {
  std::string file = "agentrl1";
  while (!bodies.empty()) {
    const auto size = static_cast<unsigned char>(bodies.front());
    const std::string_view body = bodies.substr(1, size);
    Append(file, static_cast<uint32_t>(body.size()));
    Append(file, agentr::Crc32c(body));
    file += body;
    bodies.remove_prefix(1 + body.size());
  }
  return file;
}

// The ids of a tokenizer that is not known are those of a vocabulary of 1,000.
template <typename Store>
std::unique_ptr<Store> Open(const std::filesystem::path& path) {
  if constexpr (requires { Store(path, {std::string(), int64_t{1000}}); }) {
    return std::unique_ptr<Store>(new Store(path, {std::string(), int64_t{1000}}));
  } else {
    return std::make_unique<Store>(path);
  }
}

void ReadAll(const agentr::TransitionStore& store) {
  std::set<int64_t> finished;
  for (const agentr::EpisodeRecord& episode : store.episodes()) {
    for (const int64_t number : episode.transitions) {
      Check(number >= 0 && number < store.size() && finished.insert(number).second);
    }
  }
  for (int64_t i = 0; i < store.size(); ++i) {
    Check(store.Read(i).done == store.done(i));
    Check(store.Next(i) == -1 || (store.Next(i) > i && store.Next(i) < store.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input = agentr::AsText(data, size);
  const agentr::ScratchFolder& folder = agentr::FuzzFolder();
  folder.Write("transitions.bin",
               input[0] == 1 ? std::string(input.substr(1)) : FileOf(input.substr(1)));
  try {
    ReadAll(*Open<agentr::TransitionStore>(folder / "transitions.bin"));
  } catch (const agentr::FatalError& error) {
    Check(error.code() == agentr::ExitCode::kFile || error.code() == agentr::ExitCode::kUsage);
  }
  return 0;
}
