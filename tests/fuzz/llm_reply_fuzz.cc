// Any bytes as a model server's reply are refused, or give completions within the limits; an
// error's message is safe to show on a terminal.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "clients/openai/openai_protocol.h"
#include "common/text.h"

namespace {

constexpr size_t kMostText = 100;

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto batch = agentr::ParseChat(bytes, kMostText);
  if (batch) {
    Check(!batch->completions.empty());
    for (const agentr::Completion& completion : batch->completions) {
      Check(completion.text.size() <= kMostText);
      for (const int32_t id : completion.token_ids) Check(id >= 0);
    }
  } else {
    Check(agentr::EscapeControls(batch.error().message) == batch.error().message);
  }
  agentr::HttpError refused;
  refused.kind = agentr::ErrorKind::kRejected;
  refused.body = bytes;
  const agentr::Error error = agentr::ChatError(refused);
  Check(agentr::EscapeControls(error.message) == error.message);
  return 0;
}
