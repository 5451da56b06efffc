"""What transformers' Jinja makes of expressions and small templates, for tests/lm/jinja/template_test.cc.

In a virtual environment with transformers==5.23.0 and jinja2==3.1.6:
python scripts/golden/jinja_templates.py

It writes tests/golden/jinja_templates.json. All templates are our own; those of FAMILIES have the
shape of what the model families publish.
"""

import datetime
import json

import transformers
from transformers.utils import chat_template_utils as utils

COMMAND = "python scripts/golden/jinja_templates.py"
VARIABLES = {"bos_token": "<s>", "eos_token": "</s>"}


class FixedDate(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2024, 7, 26)


utils.datetime = FixedDate

EXPRESSIONS = r"""
1 + 2 * 3 - 4 // 3 % 5 | 7 / 2 | -7 // 2 | -7 % 3 | 7 % -3 | 2 ** 3 ** 2 | -2 ** 2 | 1.5 + 1 | 1e20 | 1e16 | 0.1 + 0.2
1.0 | 1e-5 | 100000.0 * 10 | 7.5 // 2 | -7.5 % 2 | true + 1 | 1 == 1.0 | 1 == true | '1' == 1 | none == none | nothing == none
'a' + 'b' ~ 1 ~ none ~ true | 'ab' * 3 | 3 * [1] | [1] + [2] | (1, 2) + (3,) | 'a' 'b' | "it's" | 'say "x"' | '\x41\u00e9\n\t\\' | '\q'
1 < 2 < 3 | 1 < 3 < 2 | 'a' < 'b' | [1, 2] < [1, 3] | 1 in [1, 2] | 'b' in 'abc' | 'x' not in {'x': 1} | 2 not in (1, 3) | not 1 in [1]
1 and 0 | 0 or 'x' | not '' | '' or none | [] and 1 | 1 if true else 2 | 1 if false | (1 if false) is defined | 'a' if '' else 'b' if 1 else 'c'
[1, 'a', none, true, 1.5, [2], (3,), {}] | {'a': 1, 'b': [1, {'c': none}]} | () | (1,) | ['it\'s', "x\ny", 'é', '\x07'] | {1: 2, 'x': (1, 2)}
'hello'[1] | 'hello'[-1] | 'hello'[1:3] | 'hello'[::-1] | 'hello'[::2] | 'hello'[-3:] | 'hello'[10:] | 'héllo'[1] | 'héllo'[::-1] | 'hello'[4:1:-1]
[1, 2, 3][::-1] | [1, 2, 3][1:] | [1, 2, 3][-1] | [1, 2][5] is defined | {'a': 1}['a'] | {'a': 1}.a | {'a': 1}.b is defined | {'a': 1}['b'] | (1, 2, 3)[:2]
[[1, 2], [3]].0.1 | none.x is defined | 'abc'.x is defined | 'abc'['x'] is defined | {'items': 1}['items'] | messages[0].content | messages[9] is defined
' a b '.strip() | 'xxaxx'.strip('x') | ' a '.lstrip() | ' a '.rstrip() | 'a,b,,c'.split(',') | ' a  b '.split() | 'a,b,c'.split(',', 1) | 'a,b,c'.rsplit(',', 1)
'abc'.startswith('ab') | 'abc'.endswith(('x', 'c')) | 'aBc'.upper() | 'aBc'.lower() | 'hello wOrld'.title() | 'hELLO'.capitalize() | 'a-b c'.title()
'aXbXc'.replace('X', '--') | 'aXbXc'.replace('X', '', 1) | 'a\nb\r\nc\n'.splitlines() | 'abc'.find('c') | 'abc'.find('z') | 'äbc'.find('c') | 'abab'.count('ab')
'-'.join(['a', 'b']) | 'abc'.removeprefix('a') | 'abc'.removesuffix('c') | 'a=b=c'.partition('=') | 'a=b=c'.rpartition('=') | ' '.isspace() | '12'.isdigit()
'{} and {}'.format(1, 'x') | '{1}{0}{{}}'.format('a', 'b') | '{x}'.format(x=2) | '%s is %d%%' % ('x', 3) | '%s' % [1] | 'AB'.isupper() | 'straße'.upper() | 'ΑΣ'.lower()
{'a': 1}.get('a') | {'a': 1}.get('b') | {'a': 1}.get('b', 2) | {'a': 1}.items() | list | {'a': 1}.keys() | list | {'b': 1}.values() | list
' x ' | trim | 'xax' | trim('x') | 'a' | upper | 'Ab' | lower | 'ab cd-ef' | title | 'aB' | capitalize | [1, 2] | length | 'héé' | length | nothing | length | {'a': 1} | count
[1, 2] | join | [1, 2] | join(', ') | [{'a': 1}, {'a': 2}] | join('-', attribute='a') | 'abc' | join('.') | [3, 1, 2] | sort | ['b', 'A'] | sort | ['b', 'A'] | sort(case_sensitive=true)
[1, 2] | sort(reverse=true) | [{'n': 2}, {'n': 1}] | sort(attribute='n') | [1, 2] | first | [1, 2] | last | [] | first is defined | 'abc' | first | 'abc' | last | [1, 2] | reverse | list | 'abc' | reverse
nothing | default('x') | '' | default('x') | '' | default('x', true) | none | default('x') | none | d('x', boolean=true) | nothing | default | 1 | string ~ 'a' | '42' | int | 'x' | int | 'x' | int(7) | 3.9 | int | '3.5' | int | '2.5' | float
[1, 2] | map('string') | list | ['a', 'b'] | map('upper') | join | messages | map(attribute='role') | join(',') | [{'a': 1}, {}] | map(attribute='a', default=0) | list | [1, 0, 2] | select | list | [1, 2, 3] | select('odd') | list
[1, 2, 3] | reject('odd') | list | messages | selectattr('role', 'equalto', 'user') | list | length | messages | rejectattr('role', 'eq', 'user') | map(attribute='role') | list | [{'a': 0}, {'a': 1}] | selectattr('a') | list | none | selectattr('a') | list
[1, 1, 2] | unique | list | ['a', 'A'] | unique | list | {'b': 1, 'a': 2} | dictsort | {'b': 1, 'a': 2} | dictsort(by='value') | {'b': 1} | items | list | [1, 2] | sum | [1, 3, 2] | max | [1, 3, 2] | min | [1, 2, 3] | batch(2) | list
'aXb' | replace('X', 'y') | 'a\nb\n\nc' | indent | 'a\nb' | indent(2, true) | 'a\n\nb' | indent(2, blank=true) | -3 | abs | 2.5 | round | 2.4 | round(method='ceil') | '<b>' | safe
{'a': [1, 2.5, true, none, 'é"\n\\/<']} | tojson | {'a': [1], 'b': {}} | tojson(indent=2) | [] | tojson(indent=4) | 'é😀' | tojson(ensure_ascii=true) | {'b': 1, 'a': 2} | tojson(sort_keys=true) | [1, {'a': 2}] | tojson(separators=(',', ':')) | {1: 2, none: 3} | tojson | (1, 2) | tojson | messages[0] | tojson
nothing is defined | nothing is undefined | none is none | 'a' is string | 1 is string | {} is mapping | [] is mapping | [] is iterable | 1 is iterable | 'a' is sequence | {} is sequence | nothing is sequence | nothing is iterable | 1 is number | true is number
1 is integer | true is integer | 1.0 is float | true is boolean | true is true | 1 is true | false is false | 3 is odd | 4 is even | 9 is divisibleby 3 | 1 is eq 1 | 1 is equalto(2) | 2 is gt 1 | 1 is in [1] | 'a' is in('abc') | 1 is ne 2 | 'A' is upper | 'a' is lower | range is callable
1 is not none | not nothing is defined | 'a' is string and 1 is number | (messages[0].content is string) ~ '!' | nothing is not defined or false | none is not defined
range(3) | list | range(1, 10, 3) | list | range(3, 0, -1) | list | dict(a=1, b=2) | dict({'a': 1}, b=2) | namespace(a=1).a | strftime_now('%d %b %Y') | strftime_now('%Y-%m-%d %A')
[1, 2, 3] == [1, 2, 3] | (1,) == [1] | {'a': 1} == {'a': 1.0} | [1] != [2] | 'a' ~ [1] ~ {'b': none} | nothing ~ 'x' | nothing | string | nothing == other_nothing | not nothing | nothing | list | nothing | upper
messages[1:] | length | messages[::-1][0].role | messages[-1]['content'] | messages[0].items() | list | messages | length - 1 | (messages|length) * 2 | messages | last == messages[-1]
{'a': 1, 'a': 2} | {} | [] | [1,] | {'a': 1,} | 1_000 | 0.5e1 | 'a' is string is defined | -1 | abs | - 1 | +1 | not not 1 | 1 - -1 | 'x' ~ -1
nothing.x | nothing + 1 | 1 + 'a' | 'a' + 1 | [1] + (2,) | 1 / 0 | 1 % 0 | 'a' < 1 | 1 in 2 | none | length | {}.missing.x | none | upper | [] | tojson(indent='--') | nothing | tojson | nothing() | 'a'.nope() | messages[0][1:] | 1 | indent | nothing | last is defined | nothing | reverse | list | [1].append(2) | {}.update({}) | range(100001) | list
{[]: 1} | {'a': 1}[[1]] is defined | 'abc'.split('') | [1, 2] | join(1) | 5 | join | ['a', 1] | sort | raise_exception('stop') | messages.x is defined | 'a' | int('z') | namespace({'_a': 1}) | 'a' in nothing | loop is defined
"""

STATEMENTS = {
    "if": "{% if a %}1{% elif messages %}2{% else %}3{% endif %}{% if 0 %}x{% endif %}{% if not 0 %}y{% endif %}",
    "for": "{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}"
           "{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.length }}{{ loop.depth }}:{{ loop.previtem.role if loop.previtem is defined }}"
           "/{{ loop.nextitem.role if loop.nextitem is defined else '-' }} {{ loop.cycle('a', 'b') }};{% endfor %}",
    "for filter": "{% for m in messages if m.role == 'user' %}{{ loop.index }}{{ m.content }}{{ loop.last }}"
                  "{{ loop.length }}{% else %}none{% endfor %}{% for x in [] %}{% else %}E{% endfor %}"
                  "{% for x in [1, 2] if x > 5 %}{{ x }}{% else %}F{% endfor %}",
    "for lazy": "{% set ns = namespace(on=true) %}{% for x in range(5) if ns.on %}{{ x }}"
                "{% if x == 2 %}{% set ns.on = false %}{% endif %}{% endfor %}|{% set ns = namespace(on=true) %}"
                "{% for x in range(5) if ns.on %}{{ x }}{{ loop.last }}{% if x == 2 %}{% set ns.on = false %}{% endif %}{% endfor %}",
    "for unpack": "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a + b + c }}{% endfor %}"
                  "{% for c in 'añb' %}{{ c }}.{% endfor %}{% for k in {'x': 1} %}{{ k }}{% endfor %}",
    "for nested": "{% for a in [1, 2] %}{% set outer = loop %}{% for b in [3, 4] %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}",
    "loop control": "{% for x in range(9) %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "scopes": "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}"
              "{% if true %}{% set x = 9 %}{% endif %}{{ x }}{% with x = 5, y = x %}{{ x }}{{ y }}{% set z = 1 %}{% endwith %}{{ z is defined }}",
    "namespace": "{% set ns = namespace(n=0, s='') %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% set ns.s = ns.s ~ m.role[0] %}{% endfor %}{{ ns.n }}{{ ns.s }}{{ ns.none is defined }}",
    "set block": "{% set x %}a{{ messages[0].content }}b{% endset %}{{ x | length }}{{ x }}{% set y | upper | trim %} q{% endset %}[{{ y }}]{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "macro": "{% macro m(a, b=2, c=b) %}{{ a }}{{ b }}{{ c is defined }}{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=1, a=4) }}{{ m() }}"
             "{% macro v() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ v(1, 2, x=3) }}{% set g = 7 %}{% macro late() %}{{ g }}{% endmacro %}{% set g = 8 %}{{ late() }}",
    "macro recursion": "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "macro in loop": "{% for i in [1, 2] %}{% macro f() %}{{ i }}{% endmacro %}{{ f() }}{% endfor %}",
    "macro errors": "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}",
    "call": "{% macro box(t) %}[{{ t }}:{{ caller(1) }}:{{ caller(2) }}]{% endmacro %}{% call(n) box('x') %}{{ n }}{{ messages[0].role }}{% endcall %}"
            "{% macro plain() %}{{ caller() }}{% endmacro %}{% call plain() %}p{% endcall %}",
    "caller missing": "{% macro f() %}{{ 1 }}{% endmacro %}{% call f() %}x{% endcall %}",
    "filter block": "{% filter upper | replace('A', 'x') %}abc{{ messages[0].content }}{% endfilter %}",
    "generation": "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}</a>{% endgeneration %}{% else %}{{ m.content }}{% endif %}\n{% endfor %}",
    "white space": "a  \n  {% if true %}  \n  b\n  {%- if true -%}  \n c \n {%- endif %}\n  {% endif %}\n\n  {{ 1 }}\n  {{- 2 -}}  \n x\n {#- c -#} y\n  {# d #}  \nz  {%+ if true %}\n e{% endif +%}\n f\n",
    "raw": "a\n  {% raw %}\n {{ x }}{% y %}\n  {% endraw %}\n b{%- raw -%}  q {%- endraw -%}  r",
    "last line ends": "{{ 1 }}\n\n",
    "carriage returns": "a\r\n{% if true %}\r\nb\rc{% endif %}",
    "braces": "{{ {'a': {'b': 1}} }}{{ '}}' }}{{ \"%}\" }}{% set x = {'y': '%}'} %}{{ x.y }}{ {{ 1 }} }{% if '{%' %}#{% endif %}",
    "star": "{% macro f(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ f(*[1, 2]) }}{{ f(**{'a': 3, 'b': 4}) }}{{ dict(**{'x': 1}) }}",
    "joiner": "{% set j = joiner(', ') %}{% for x in [1, 2] %}{{ j() }}{{ x }}{% endfor %}",
    "print": "{% print 1 + 1 %}",
    "raise": "{% if messages[0].role != 'nobody' %}{{ raise_exception('roles must alternate') }}{% endif %}",
    "marks": "{% for m in messages %}{% set c = m.content %}{{ c.strip() ~ '|' ~ c.upper() }}{{ (c ~ 'x')[::-1] }}{{ c.split('</think>')[-1].lstrip('\\n') }}"
             "{{ c | replace('o', '0') | trim }}{{ [c, c] | join('&') }}{{ c | tojson }}{{ '%s' % c }}{{ '{}'.format(c) }}{{ c[1:] }}{{ c | indent if c == 'one' }}{% endfor %}",
}

THINK = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}"
FAMILIES = {
    "chatml, thinking is opened": """{% for m in messages %}{% set c = m.content %}
{%- if m.role == 'assistant' and '</think>' in c %}{% set c = c.split('</think>')[-1].lstrip('\\n') %}{% endif %}
{{- '<|im_start|>' + m.role + '\\n' + c + '<|im_end|>' + '\\n' }}{% endfor %}""" + THINK,
    "chatml, separators": """{% for m in messages %}{% if m.role == 'system' %}{{ '<|im_start|>system<|im_sep|>' + m.content + '<|im_end|>' }}
{%- elif m.role == 'user' %}{{ '<|im_start|>user<|im_sep|>' + m.content + '<|im_end|>' }}
{%- else %}{{ '<|im_start|>assistant<|im_sep|>' + m.content + '<|im_end|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}""",
    "llama 3, empty system turn": """{% if messages[0].role != 'system' %}{{ '<s><|start_header_id|>system<|end_header_id|>\\n\\n<|eot_id|>' }}{% endif %}
{%- for m in messages %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content | trim + '<|eot_id|>' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}""",
    "chatml, system text in a variable": """{% if messages[0]['role'] == 'system' %}{% set text = messages[0]['content'] %}{% set rest = messages[1:] %}
{%- else %}{% set text = 'You are a helpful assistant.' %}{% set rest = messages %}{% endif %}
{{- '<|im_start|>system\\n' + text + '<|im_end|>\\n' }}{% for m in rest %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}""",
    "chatml, no system turn": """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% for m in messages %}
{{- '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}""",
    "guard": """{{ '<|start_header_id|>user<|end_header_id|>\\n\\nJudge the last message.\\n\\n<BEGIN>\\n\\n' }}
{%- for m in messages if m.role != 'system' %}{{ ('User: ' if m.role == 'user' else 'Agent: ') + m.content | trim + '\\n\\n' }}{% endfor %}
{{- '<END><|eot_id|><|start_header_id|>assistant<|end_header_id|>\\n\\n' }}""",
    "chatml, trimmed, other names": """{% for m in messages %}{% set who = {'system': 'context', 'user': 'human', 'assistant': 'bot'}[m.role] %}
{{- '<|im_start|>' ~ who ~ '\\n' ~ m.content | trim ~ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>bot\\n' }}{% endif %}""",
    "llama 2": """{% if messages[0].role == 'system' %}{% set head = '<<SYS>>\\n' + messages[0].content + '\\n<</SYS>>\\n\\n' %}{% set turns = messages[1:] %}{% else %}{% set head = '' %}{% set turns = messages %}{% endif %}
{%- for m in turns %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('user and assistant take turns') }}{% endif %}
{%- if m.role == 'user' %}{{ bos_token + '[INST] ' + (head if loop.first else '') + m.content.strip() + ' [/INST]' }}{% else %}{{ ' ' + m.content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}""",
}

CONVERSATIONS = [
    [("user", "one")],
    [("system", "Be brief."), ("user", "What is 12 + 34?"), ("assistant", "46"), ("user", "Sure?")],
    [("user", "  white \n"), ("assistant", "<think>\nhm\n</think>\n\nDone. 😀"), ("user", "é\u00a0")],
    [("system", ""), ("user", ""), ("assistant", ""), ("user", "\n")],
    [("user", "a"), ("assistant", "b\n"), ("user", "c"), ("assistant", "<think>\n\n</think>\n\nd")],
]


def render(source, conversation, generation):
    messages = [{"role": role, "content": content} for role, content in conversation]
    try:
        return {"text": utils._compile_jinja_template(source).render(
            messages=messages, tools=None, documents=None, add_generation_prompt=generation,
            **VARIABLES)}
    except Exception as error:
        return {"error": type(error).__name__}


def split_expressions(line):
    """Cuts at ' | ' where it separates expressions: where what follows is not a filter's name."""
    import jinja2

    filters = set(utils._compile_jinja_template("").environment.filters)
    parts, current = [], ""
    for piece in line.split(" | "):
        word = piece.split("(")[0].split(" ")[0].split("~")[0]
        if current and word in filters:
            current += " | " + piece
        else:
            if current:
                parts.append(current)
            current = piece
    return parts + [current]


rows = []
for line in EXPRESSIONS.strip().split("\n"):
    for expression in split_expressions(line):
        rows.append({"expression": expression,
                     **render("{{ " + expression + " }}", CONVERSATIONS[1], True)})
templates = []
for group in (STATEMENTS, FAMILIES):
    for name, source in group.items():
        results = []
        for number, conversation in enumerate(CONVERSATIONS):
            for generation in (False, True):
                results.append({"conversation": number, "generation": generation,
                                **render(source, conversation, generation)})
        templates.append({"name": name, "template": source, "rows": results})


def line_of(value):
    return " " + json.dumps(value, ensure_ascii=False)


with open("tests/golden/jinja_templates.json", "w", encoding="utf-8") as out:
    out.write("{" + f'"command": {json.dumps(COMMAND)}, "transformers": "{transformers.__version__}",\n')
    out.write('"conversations": [\n' + ",\n".join(map(line_of, CONVERSATIONS)) + "],\n")
    out.write('"expressions": [\n' + ",\n".join(map(line_of, rows)) + "],\n")
    out.write('"templates": [\n' + ",\n".join(map(line_of, templates)) + "]}\n")
