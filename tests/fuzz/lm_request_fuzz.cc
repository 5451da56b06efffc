// What a client can send to lm_server: any body of a request is either refused with a status, or
// gives messages that any template (the bytes before the first zero byte) refuses or renders,
// within its limits.
#include <cstdint>
#include <string_view>

#include "lm/jinja/template.h"
#include "servers/http/http_service.h"
#include "servers/lm/lm_request.h"
#include "tests/fuzz/fuzz_input.h"

using agentr::Check;

namespace {

constexpr std::string_view kPlainTemplate =
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}\n{% endfor %}";

void Render(std::string_view source, const std::vector<agentr::Message>& messages) {
  const auto chat = agentr::jinja::Template::Parse(source);
  if (!chat) return;
  agentr::jinja::RenderOptions options;
  options.variables = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  const auto rendered = chat->Render(messages, options);
  if (!rendered) return;
  for (const agentr::jinja::Mark& mark : rendered->marks) {
    Check(mark.begin <= mark.end && mark.end <= rendered->text.size());
    Check(mark.message >= 0 && mark.message < static_cast<int>(messages.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = agentr::AsText(data, size);
  const size_t end = input.find('\0');
  const std::string_view source =
      end == std::string_view::npos ? kPlainTemplate : input.substr(0, end);
  const std::string_view body = end == std::string_view::npos ? input : input.substr(end + 1);
  for (const agentr::LmApi api : {agentr::LmApi::kChat, agentr::LmApi::kCompletions}) {
    try {
      const agentr::LmRequest request = agentr::ParseLmRequest(api, body);
      Check(request.api == api);
      Render(source, request.messages);
    } catch (const agentr::HttpStatusError& error) {
      Check(error.status() >= 400 && error.status() < 500);
    }
  }
  return 0;
}
