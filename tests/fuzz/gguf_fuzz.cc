// Any bytes are either refused, or give tensors that lie inside the file and have the size of their
// shapes. What is made of the values, configuration and tokenizer, is refused or made.
#include <algorithm>
#include <memory>
#include <string_view>

#include "common/error.h"
#include "common/file.h"
#include "lm/tokenizer/tokenizer.h"
#include "lm/weights/gguf.h"
#include "lm/weights/gguf_model.h"
#include "lm/weights/model_config.h"
#include "tests/fuzz/fuzz_input.h"

namespace agentr {
namespace {

template <typename Make>
void MadeOrRefused(const Make& make) {
  try {
    make();
  } catch (const FatalError&) {
  }
}

void Read(const std::filesystem::path& path, size_t size) {
  const auto file = std::make_shared<const GgufFile>(path);
  size_t most = 0;
  for (const auto& [name, weight] : file->tensors()) {
    int64_t values = 1;
    for (const int64_t n : weight.shape) values *= n;
    Check(std::ssize(weight.data) == BytesOf(weight.type, values));
    most = std::max(most, weight.data.size());
  }
  Check(most <= size);
  MadeOrRefused([&] { ReadModelConfig(path); });
  MadeOrRefused([&] { GgufWeights weights(file); });
  MadeOrRefused([&] {
    const auto tokenizer = Tokenizer::Load(path);
    constexpr std::string_view kText = "Hello, it's  1234 \n\n caf\xc3\xa9 \xff";
    for (const int32_t id : tokenizer->Encode(kText)) Check(id >= 0 && id < tokenizer->size());
  });
}

}  // namespace
}  // namespace agentr

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace agentr;
  const std::filesystem::path path = FuzzFolder().path() / "model.gguf";
  WriteFileAtomically(path, AsText(data, size));
  MadeOrRefused([&] { Read(path, size); });
  return 0;
}
