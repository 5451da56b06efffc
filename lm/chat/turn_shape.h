// Measures what the turns of a template look like.
#pragma once

#include "common/error.h"
#include "lm/chat/chat_spans.h"
#include "lm/chat/jinja/template.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

struct MeasuredTemplate {
  TurnShape shape;
  bool begins_with_bos = false;
};

// Renders small conversations. The error (kRejected) says why not even a user's message can be
// said.
Result<MeasuredTemplate> MeasureTurns(const jinja::Template& chat,
                                      const jinja::RenderOptions& options,
                                      const Tokenizer& tokenizer);

}  // namespace agentr
