// Any bytes as a chat template give an error with a place, or a text whose marks are in order, lie
// inside it, and belong to existing messages. No template runs forever or uses up the memory.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "lm/chat/chat_spans.h"
#include "lm/jinja/template.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

void CheckMarks(const agentr::jinja::Rendered& rendered, int messages) {
  size_t done = 0;
  for (const agentr::jinja::Mark& mark : rendered.marks) {
    Check(done <= mark.begin && mark.begin <= mark.end && mark.end <= rendered.text.size());
    Check(mark.message >= 0 && mark.message < messages);
    done = mark.end;
  }
  for (const auto& regions : {rendered.generations, rendered.turns}) {
    for (const agentr::jinja::Region& region : regions) {
      Check(region.begin <= region.end && region.end <= rendered.text.size());
    }
  }
}

const std::vector<agentr::Message> kTalk = {{"system", "Rules."},
                                            {"user", " one\n"},
                                            {"assistant", "<think>x</think>two, \xC3\xA9\xE2\x82"},
                                            {"user", ""}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto chat = agentr::jinja::Template::Parse(source);
  if (!chat) {
    Check(chat.error().place.line >= 1 && chat.error().place.column >= 1);
    return 0;
  }
  agentr::jinja::RenderOptions options;
  options.add_generation_prompt = true;
  options.variables = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  const auto rendered = chat->Render(kTalk, options);
  if (!rendered) {
    Check(rendered.error().place.line >= 1 && rendered.error().place.column >= 1);
    return 0;
  }
  CheckMarks(*rendered, static_cast<int>(kTalk.size()));
  const agentr::TurnShape shape{"assistant:", "", {"</s>"}, true};
  for (const auto& span : agentr::MessageSpans(*rendered, kTalk, shape)) {
    Check(!span || (span->begin <= span->end && span->end <= rendered->text.size()));
  }
  return 0;
}
