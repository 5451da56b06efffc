// The speed of encoding texts: MB/s of one thread, with an empty and with a full cache of pieces.
// tokenizer_bench.py measures the same with the tokenizers library.
//   tokenizer_bench FOLDER TEXT_FILE
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "common/error.h"
#include "common/file.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {
namespace {

// The file's lines, ten to a text.
std::vector<std::string> Texts(const std::string& bytes) {
  std::vector<std::string> texts(1);
  int lines = 0;
  for (const char c : bytes) {
    texts.back() += c;
    if (c == '\n' && ++lines % 10 == 0) texts.emplace_back();
  }
  return texts;
}

ExitCode Run(const char* folder, const char* file) {
  const std::string bytes = ReadFile(file);
  const std::vector<std::string> texts = Texts(bytes);
  const auto tokenizer = Tokenizer::Load(folder);
  for (const char* round : {"first", "second"}) {
    size_t tokens = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string& text : texts) tokens += tokenizer->Encode(text).size();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    fmt::print("{:6} {:6.2f} MB/s  {} tokens\n", round,
               static_cast<double>(bytes.size()) / 1e6 / seconds.count(), tokens);
  }
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    if (argc != 3) {
      throw agentr::FatalError(agentr::ExitCode::kUsage, "tokenizer_bench FOLDER TEXT_FILE");
    }
    return agentr::Run(argv[1], argv[2]);
  });
}
