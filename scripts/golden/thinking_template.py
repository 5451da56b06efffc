"""What transformers' Jinja makes of a template that leaves out the thoughts of earlier turns, for
tests/lm/chat/thinking_template_test.cc.

In a virtual environment with transformers==5.23.0 and jinja2==3.1.6:
python scripts/golden/thinking_template.py

It writes tests/golden/thinking_template.json. The template is our own; it treats thoughts as that of
Qwen3 does: the turns before the last question lose theirs, the last turn always has one, and
enable_thinking decides whether the next turn begins with an empty one.
"""

import json

from transformers.utils import chat_template_utils as utils

TEMPLATE = r"""{%- set ns = namespace(last=-1) %}
{%- for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}
{%- for m in messages %}
{%- set text = m.content %}
{%- set thought = '' %}
{%- if m.role == 'assistant' %}
{%- if m.reasoning_content is string %}
{%- set thought = m.reasoning_content %}
{%- elif '</think>' in text %}
{%- set thought = text.split('</think>')[0].split('<think>')[-1].strip('\n') %}
{%- set text = text.split('</think>')[-1].lstrip('\n') %}
{%- endif %}
{%- endif %}
{{- '<|im_start|>' ~ m.role ~ '\n' }}
{%- if m.role == 'assistant' and loop.index0 > ns.last %}{{- '<think>\n' ~ thought ~ '\n</think>\n\n' }}{% endif %}
{{- text ~ '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}
{%- if enable_thinking is defined and not enable_thinking %}{{- '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}"""

THOUGHT = "<think>\nI look.\n</think>\n\n"
CONVERSATIONS = [
    [("user", "one")],
    [("user", "one"), ("assistant", THOUGHT + "Action: go")],
    [("user", "one"), ("assistant", "Action: go", "I look.")],
    [("user", "one"), ("assistant", THOUGHT + "Action: go"), ("user", "two")],
    [("user", "one"), ("assistant", "Action: go", "I look."), ("user", "two"), ("assistant", "Action: up")],
    [("user", "one"), ("assistant", THOUGHT + "Action: go"), ("user", "two"),
     ("assistant", "<think>Action: no</think>Action: up")],
]
ARGUMENTS = [{}, {"enable_thinking": False}, {"enable_thinking": True, "n": 1, "list": ["a", {"b": None}]}]


def message(turn):
    said = {"role": turn[0], "content": turn[1]}
    return said | ({"reasoning_content": turn[2]} if len(turn) > 2 else {})


rows = []
for conversation in CONVERSATIONS:
    messages = [message(turn) for turn in conversation]
    for arguments in ARGUMENTS:
        for generation in (False, True):
            texts, _ = utils.render_jinja_template(
                conversations=[messages], chat_template=TEMPLATE, add_generation_prompt=generation, **arguments)
            rows.append({"messages": messages, "arguments": arguments, "generation": generation, "text": texts[0]})

lines = ",\n".join(" " + json.dumps(row, ensure_ascii=False) for row in rows)
with open("tests/golden/thinking_template.json", "w") as out:
    out.write('{"command": "python scripts/golden/thinking_template.py", "transformers": "5.23.0",\n"template": '
              + json.dumps(TEMPLATE) + ',\n"rows": [\n' + lines + "\n]}\n")
