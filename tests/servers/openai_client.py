"""The usual requests of OpenAI's own Python client to a running lm_server.

    python -m venv venv && venv/bin/pip install openai
    AGENTR_API_KEY=k lm_server --model_dir DIR --port 8000 &
    venv/bin/python tests/servers/openai_client.py http://127.0.0.1:8000/v1 k

Prints one line per check and ends with 0 when all of them hold.
"""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
model = client.models.list().data[0].id
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]
chat = {"model": model, "messages": messages, "max_tokens": 24, "seed": 7}


def check(what, condition):
    print("ok " if condition else "BAD", what)
    if not condition:
        sys.exit(1)


def fails(kind, code, **fields):
    try:
        client.chat.completions.create(**{**chat, **fields})
    except kind as error:
        return error.code == code and bool(error.message)
    return False


whole = client.chat.completions.create(**chat, n=2)
check("two completions", [c.index for c in whole.choices] == [0, 1])
check("usage", whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens)
again = client.chat.completions.create(**chat, n=2)
check("same seed, same texts", [c.message.content for c in whole.choices]
      == [c.message.content for c in again.choices])
check("the cache is told", again.usage.prompt_tokens_details.cached_tokens > 0)

texts, usage, reasons = ["", ""], None, {}
for chunk in client.chat.completions.create(**chat, n=2, stream=True,
                                            stream_options={"include_usage": True}):
    usage = chunk.usage or usage
    for choice in chunk.choices:
        texts[choice.index] += choice.delta.content or ""
        if choice.finish_reason:
            reasons[choice.index] = choice.finish_reason
check("streamed texts", texts == [c.message.content for c in whole.choices])
check("streamed finish reasons", reasons == {c.index: c.finish_reason for c in whole.choices})
check("streamed usage", usage.completion_tokens == whole.usage.completion_tokens)

logged = client.chat.completions.create(**chat, logprobs=True, top_logprobs=2,
                                        extra_body={"return_token_ids": True}).choices[0]
check("log-probabilities", all(t.logprob <= 0 and len(t.top_logprobs) == 2
                               for t in logged.logprobs.content))
check("token ids", len(logged.token_ids) == len(logged.logprobs.content))

text = client.completions.create(model=model, prompt="once upon", max_tokens=5, temperature=0,
                                 logprobs=1)
check("a completion of text", len(text.choices[0].logprobs.tokens) == text.usage.completion_tokens)
ids = client.completions.create(model=model, prompt=[1, 2, 3], max_tokens=5)
check("a completion of token ids", ids.usage.prompt_tokens == 3)
pieces = client.completions.create(model=model, prompt="once upon", max_tokens=5, temperature=0,
                                   stream=True)
check("a streamed completion", "".join(c.choices[0].text for c in pieces) == text.choices[0].text)

with client.chat.completions.create(**{**chat, "max_tokens": 2000}, stream=True) as stream:
    next(iter(stream))
check("hanging up in a stream", client.chat.completions.create(**chat).choices)

check("unknown model", fails(openai.NotFoundError, "model_not_found", model="other"))
check("too long", fails(openai.BadRequestError, "context_length_exceeded", max_tokens=10**6))
check("bad field", fails(openai.BadRequestError, None, temperature=-1))
try:
    client.with_options(api_key="wrong").models.list()
    check("wrong key", False)
except openai.AuthenticationError as error:
    check("wrong key", error.code == "invalid_api_key")
