// Measures the form of a template's turns.
#pragma once

#include "common/error.h"
#include "lm/chat/chat_spans.h"
#include "lm/jinja/template.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

struct MeasuredTemplate {
  TurnShape shape;
  // An assistant's turn is written otherwise once a later turn follows, as by templates that leave
  // out the thoughts of earlier turns.
  bool rewrites_turns = false;
};

// Renders small conversations. kRejected, with the reason, if the template cannot render even a
// user's message.
Result<MeasuredTemplate> MeasureTurns(const jinja::Template& chat,
                                      const jinja::RenderOptions& options,
                                      const Tokenizer& tokenizer);

}  // namespace agentr
