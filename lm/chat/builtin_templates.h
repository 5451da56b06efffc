// Built-in chat templates for model folders that do not contain one.
#pragma once

#include <string_view>

namespace agentr {

// Llama 3 (Meta 2024): white space around the content is removed. The dates at the beginning of
// Llama 3.1 and later are only in those models' own templates.
inline constexpr std::string_view kLlama3Template =
    R"({{ bos_token }}{% for message in messages -%}
<|start_header_id|>{{ message.role }}<|end_header_id|>{{ '\n\n' ~ message.content | trim }}<|eot_id|>
{%- endfor %}{% if add_generation_prompt -%}
<|start_header_id|>assistant<|end_header_id|>{{ '\n\n' }}{% endif %})";

// ChatML (Qwen, SmolLM), without a default system text.
inline constexpr std::string_view kChatMlTemplate = R"({% for message in messages %}
{{- '<|im_start|>' ~ message.role ~ '\n' ~ message.content ~ '<|im_end|>\n' }}
{%- endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})";

// Mistral. If [INST] is a token (`mark_tokens`), there is no space between it and the text, and the
// system text is in the last user turn; otherwise there are spaces, and it is in the first user
// turn.
inline constexpr std::string_view kMistralTemplate =
    R"({{ bos_token }}{% set head = messages[0].role == 'system' %}
{%- set turns = messages[1:] if head else messages %}{% set space = '' if mark_tokens else ' ' %}
{%- set with_system = (turns | length - 1) // 2 * 2 if mark_tokens else 0 %}
{%- if not turns %}
{{- raise_exception("the format mistral needs a user's message after the system's") }}{% endif %}
{%- for message in turns %}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) or message.role == 'system' %}
{{- raise_exception("the format mistral needs user and assistant in turn after the system's message; "
    ~ "message " ~ (loop.index0 + (1 if head else 0)) ~ " is the " ~ message.role ~ "'s") }}
{%- endif %}
{%- if message.role == 'user' %}{{ '[INST]' ~ space }}
{%- if head and loop.index0 == with_system %}{{ messages[0].content ~ '\n\n' }}{% endif %}
{{- message.content ~ space ~ '[/INST]' }}
{%- else %}{{ space ~ message.content ~ eos_token }}{% endif %}{% endfor %})";

// A plain format for models trained without a chat template: EOS ends an assistant's turn.
inline constexpr std::string_view kPlainTemplate =
    R"({{ bos_token }}{% for message in messages -%}
### {{ message.role | capitalize }}:{{ '\n' ~ message.content }}
{%- if message.role == 'assistant' %}{{ eos_token }}{% endif %}{{ '\n\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '### Assistant:\n' }}{% endif %})";

}  // namespace agentr
