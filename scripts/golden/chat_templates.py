"""What transformers' apply_chat_template makes of conversations, for tests/lm/chat/chat_template_test.cc.

In a virtual environment with transformers==5.23.0 and jinja2==3.1.6:
python scripts/golden/chat_templates.py

It writes tests/golden/chat_templates.json. The templates state in our own words what each family
publishes; the tokenizers are those of scripts/golden/tokenizer_kinds.py.
"""

import json
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import transformers
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

COMMAND = "python scripts/golden/chat_templates.py"
FOLDER = "tests/golden"

LLAMA3 = """{{ bos_token }}{% for m in messages -%}
<|start_header_id|>{{ m.role }}<|end_header_id|>{{ '\\n\\n' + m.content | trim }}<|eot_id|>
{%- endfor %}{% if add_generation_prompt -%}
<|start_header_id|>assistant<|end_header_id|>{{ '\\n\\n' }}{% endif %}"""

LLAMA31 = """{{ bos_token }}
{%- set date = date_string if date_string is defined else '26 Jul 2024' %}
{%- set head = messages[0].role == 'system' %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nCutting Knowledge Date: December 2023\\n' }}
{{- 'Today Date: ' + date + '\\n\\n' }}{% if head %}{{ messages[0].content | trim }}{% endif %}
{{- '<|eot_id|>' }}
{%- for m in (messages[1:] if head else messages) %}
{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content | trim + '<|eot_id|>' }}
{%- endfor %}{% if add_generation_prompt %}
{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""

CHATML_TURNS = """{% for m in messages %}
{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
{%- endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

QWEN2 = """{% if messages[0].role != 'system' -%}
{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{% endif %}""" + CHATML_TURNS

QWEN25 = """{% if messages[0].role != 'system' -%}
{{ "<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.\
<|im_end|>\\n" }}{% endif %}""" + CHATML_TURNS

SMOLLM2 = """{% if messages[0].role != 'system' -%}
{{ '<|im_start|>system
You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
' }}{% endif %}""" + CHATML_TURNS

# An assistant's thoughts are shown only after the last user's message.
QWEN3 = """{% set ns = namespace(last=messages | length) %}
{%- for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}
{%- for m in messages %}{% set said = m.content %}{% set thought = '' %}
{%- if m.role == 'assistant' and '</think>' in said %}
{%- set thought = said.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
{%- set said = said.split('</think>')[-1].lstrip('\\n') %}{% endif %}
{{- '<|im_start|>' + m.role + '\\n' }}
{%- if m.role == 'assistant' and loop.index0 > ns.last and (loop.last or thought) %}
{{- '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' + said.lstrip('\\n') }}
{%- else %}{{ said }}{% endif %}{{ '<|im_end|>\\n' }}
{%- endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

# {0}, {1}: around a user's message; {2}: the message that takes the system text; {3}: the
# assistant's turn.
MISTRAL = """{{{{ bos_token }}}}{{% set head = messages[0].role == 'system' %}}
{{%- set turns = messages[1:] if head else messages %}}{{% for message in turns %}}
{{%- set user = message.role == 'user' %}}
{{%- if user != (loop.index0 % 2 == 0) %}}{{{{ raise_exception('turns') }}}}{{% endif %}}
{{%- if user %}}{{{{ '{0}' }}}}
{{%- if head and {2} %}}{{{{ messages[0].content + '\\n\\n' }}}}{{% endif %}}
{{{{- message.content + '{1}' }}}}
{{%- else %}}{{{{ {3} }}}}{{% endif %}}{{% endfor %}}"""
FIRST_USER = "loop.first"
LAST_USER = "loop.index0 == (turns | length - 1) // 2 * 2"
MISTRAL1 = MISTRAL.format("[INST] ", " [/INST]", FIRST_USER, "message.content + eos_token + ' '")
MISTRAL2 = MISTRAL.format(" [INST] ", " [/INST]", FIRST_USER, "' ' + message.content + eos_token")
MISTRAL3 = MISTRAL.format("[INST] ", "[/INST]", LAST_USER,
                          "' ' + message.content | trim + eos_token")
NEMO = MISTRAL.format("[INST]", "[/INST]", LAST_USER, "message.content + eos_token")

PLAIN = """{{ bos_token }}{% for m in messages %}{{ '### ' + m.role | capitalize + ':\\n' + m.content }}
{%- if m.role == 'assistant' %}{{ eos_token }}{% endif %}{{ '\\n\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '### Assistant:\\n' }}{% endif %}"""

# name, format, kind of tokenizer, template, whether the folder declares it
TEMPLATES = [
    ("llama 3", "llama-3", "llama3", LLAMA3, True),
    ("llama 3.1", "llama-3", "llama3", LLAMA31, True),
    ("qwen 2", "chatml", "qwen2", QWEN2, True),
    ("qwen 2.5", "chatml", "qwen2", QWEN25, True),
    ("qwen 3", "chatml", "qwen2", QWEN3, True),
    ("smollm", "chatml", "prefix", CHATML_TURNS, True),
    ("smollm 2", "chatml", "prefix", SMOLLM2, True),
    ("mistral 7b 0.1", "mistral", "llama2", MISTRAL1, True),
    ("mistral 7b 0.2", "mistral", "llama2", MISTRAL2, True),
    ("mistral 7b 0.3", "mistral", "mistral", MISTRAL3, True),
    ("mistral nemo", "mistral", "mistral", NEMO, True),
    ("plain, bytes", "plain", "gpt2", PLAIN, False),
    ("plain, metaspace", "plain", "llama2", PLAIN, False),
]

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
CONVERSATIONS = [
    [(USER, "Hello, who are you?")],
    [(SYSTEM, "Be brief."), (USER, "What is 12 + 34?")],
    [(USER, "Craft 4 planks."), (ASSISTANT, "Thought: I need a log.\nAction: get 1 log"),
     (USER, "Got 1 log")],
    [(SYSTEM, "You play a game.\n\nRules: one action."), (USER, "look around"),
     (ASSISTANT, "You are in the kitchen."), (USER, "open the door"), (ASSISTANT, "Done. 😀")],
    [(USER, "  spaces before and after  \n"), (ASSISTANT, "\n\nan answer\t \n"), (USER, "\u00a0ü\x1f")],
    [(SYSTEM, ""), (USER, ""), (ASSISTANT, ""), (USER, "\n")],
    [(SYSTEM, " \n系统。\n"), (USER, "日本語 cafe\u0301"), (ASSISTANT, "'s not\r\n"), (USER, "\u0301x 123")],
    [(USER, "Think."), (ASSISTANT, "<think>\n\nof it\n</think>\n\n\nYes."), (USER, "Sure?"),
     (ASSISTANT, "<think>again</think>\nSure.")],
    [(USER, "one"), (ASSISTANT, "two"), (USER, "three"), (ASSISTANT, "four"), (USER, "five")],
    [(SYSTEM, "a"), (USER, "b"), (SYSTEM, "c"), (USER, "d"), (ASSISTANT, "e"), (ASSISTANT, "f")],
]


def load(kind, template):
    with open(f"{FOLDER}/tokenizers/{kind}.json", encoding="utf-8") as file:
        files = json.load(file)
    config = files["tokenizer_config"]
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(files["tokenizer"])),
        bos_token=config["bos_token"], eos_token=config["eos_token"]["content"],
        clean_up_tokenization_spaces=False, chat_template=template)


def rows(kind, template):
    tokenizer = load(kind, template)
    for number, turns in enumerate(CONVERSATIONS):
        messages = [{"role": role, "content": content} for role, content in turns]
        for generation in (False, True):
            if generation and "raise_exception" in template and turns[-1][0] == ASSISTANT:
                continue  # Mistral's has no opening of an assistant's turn
            how = {"add_generation_prompt": generation}
            try:
                text = tokenizer.apply_chat_template(messages, tokenize=False, **how)
            except Exception as error:  # the template's own, for an order of roles
                assert "turns" in str(error), error
                yield {"conversation": number, "generation": generation, "refused": True}
                continue
            ids = tokenizer.apply_chat_template(messages, return_dict=False, **how)
            yield {"conversation": number, "generation": generation, "text": text, "ids": ids}


def text_of(value):
    return json.dumps(value, ensure_ascii=False)


lines = ["{" + f'"command": {text_of(COMMAND)}, "transformers": "{transformers.__version__}",',
         '"conversations": [',
         ",\n".join(" " + text_of([list(turn) for turn in turns]) for turns in CONVERSATIONS),
         '], "templates": [']
entries = []
for name, chat_format, kind, template, declared in TEMPLATES:
    head = {"name": name, "format": chat_format, "kind": kind,
            "chat_template": template if declared else None}
    body = ",\n".join("  " + text_of(row) for row in rows(kind, template))
    entries.append(text_of(head)[:-1] + ', "rows": [\n' + body + "]}")
lines += [",\n".join(entries), "]}"]
with open(f"{FOLDER}/chat_templates.json", "w", encoding="utf-8") as out:
    out.write("\n".join(lines) + "\n")
