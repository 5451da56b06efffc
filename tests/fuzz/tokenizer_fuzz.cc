// Any tokenizer.json is either refused, or gives a tokenizer whose ids are in its vocabulary and
// which encodes and decodes any text without a fault.
#include <memory>

#include "common/error.h"
#include "lm/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz_input.h"

using agentr::Check;

namespace {

void CheckText(const agentr::Tokenizer& tokenizer, std::string_view text) {
  for (const auto special : {agentr::SpecialText::kToken, agentr::SpecialText::kPlain}) {
    const std::vector<int32_t> ids = tokenizer.Encode(text, special);
    for (const int32_t id : ids) Check(id >= 0 && id < tokenizer.size());
    tokenizer.Decode(ids);
    const agentr::TextPart parts[] = {{text, special}, {" and <s>", agentr::SpecialText::kPlain}};
    const agentr::EncodedParts encoded = tokenizer.EncodeParts(parts);
    for (const agentr::EncodedParts::Range& part : encoded.parts) {
      Check(part.begin <= part.end && part.end <= encoded.ids.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const agentr::ScratchFolder& folder = agentr::FuzzFolder();
  folder.Write("tokenizer.json", std::string(agentr::AsText(data, size)));
  std::unique_ptr<agentr::Tokenizer> tokenizer;
  try {
    tokenizer = agentr::Tokenizer::Load(folder.path());
  } catch (const agentr::FatalError&) {
    return 0;
  }
  CheckText(*tokenizer, "Hello, it's  1234 \n\n caf\xc3\xa9 \xf0\x9f\x98\x80<|end|>\xff\xc3");
  CheckText(*tokenizer, agentr::AsText(data, size).substr(0, 64));
  return 0;
}
