#!/usr/bin/env python3
"""Tokens and greedy texts of lm_server beside llama.cpp's on the same GGUF file.

    lm_server --model_dir FILE.gguf --kv_dtype float32 --port 8001 &
    python3 tests/bench/lm_compare_llama_cpp.py FILE.gguf --server http://127.0.0.1:8001 docs/*.md

The prompts are passages of the given text files. Where the greedy texts part, the logits of the two tokens
are printed as llama.cpp has them: parting over a difference of rounding shows as nearly equal ones. Needs
llama-cpp-python and numpy.
"""

import argparse
import json
import pathlib
import random
import urllib.request

import llama_cpp
import numpy


def passages(files, count, random_stream):
    """Passages of 40 to 600 characters that end with a word, so that there is something to continue."""
    texts = [pathlib.Path(file).read_text() for file in files]
    found = []
    while len(found) < count:
        text = random_stream.choice(texts)
        start = random_stream.randrange(max(1, len(text) - 700))
        passage = text[start:start + random_stream.randrange(40, 600)]
        passage = passage[passage.find(" ") + 1:].rpartition(" ")[0]
        if len(passage) > 20:
            found.append(passage)
    return found


class Server:
    def __init__(self, base):
        self.base = base
        self.model = self.call("/v1/models")["data"][0]["id"]

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def complete(self, prompt, new_tokens):
        """The ids of the prompt, a text or ids, and of its greedy continuation."""
        choice = self.call("/v1/completions", {"model": self.model, "prompt": prompt, "max_tokens": new_tokens,
                                               "temperature": 0, "return_token_ids": True})["choices"][0]
        return choice["prompt_token_ids"], choice["token_ids"]


class LlamaCpp:
    def __init__(self, file, threads):
        self.model = llama_cpp.Llama(str(file), n_ctx=2048, n_threads=threads, n_threads_batch=threads,
                                     type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32,
                                     flash_attn=False, verbose=False)

    def tokenize(self, text, bos):
        return self.model.tokenize(text.encode(), add_bos=bos, special=True)

    def logits(self, ids):
        self.model.eval(ids)
        pointer = llama_cpp.llama_get_logits_ith(self.model._ctx.ctx, -1)
        return numpy.ctypeslib.as_array(pointer, (self.model.n_vocab(),)).copy()

    def greedy(self, ids, new_tokens):
        """The new tokens, and the logits that each was chosen from."""
        self.model.reset()
        new, rows = [], []
        row = self.logits(ids)
        for _ in range(new_tokens):
            new.append(int(row.argmax()))
            rows.append(row)
            if llama_cpp.llama_vocab_is_eog(self.model._model.vocab, new[-1]):
                break
            row = self.logits(new[-1:])
        return new, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--server", required=True)
    parser.add_argument("--prompts", type=int, default=50)
    parser.add_argument("--new_tokens", type=int, default=40)
    parser.add_argument("--strings", type=int, default=2000, help="passages whose ids are compared")
    parser.add_argument("--bos", action="store_true", help="lm_server adds this model's first token")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    server = Server(arguments.server)
    llama = LlamaCpp(arguments.file, arguments.threads)
    stream = random.Random(arguments.seed)
    different = 0
    for passage in passages(arguments.texts, arguments.strings, stream):
        ours, theirs = server.complete(passage, 1)[0], llama.tokenize(passage, arguments.bos)
        if ours != theirs:
            different += 1
            if different <= 3:
                print(f"other ids of {passage!r}:\n  {ours}\n  {theirs}")
    print(f"ids: {arguments.strings - different} of {arguments.strings} passages equal")

    equal = 0
    for passage in passages(arguments.texts, arguments.prompts, stream):
        ids = llama.tokenize(passage, arguments.bos)
        ours = server.complete(ids, arguments.new_tokens)[1]
        theirs, rows = llama.greedy(ids, arguments.new_tokens)
        at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), None)
        if at is None:
            equal += 1
        else:
            print(f"prompt of {len(ids)} tokens parts at token {at}: logits {rows[at][theirs[at]]:.4f} (llama.cpp's), "
                  f"{rows[at][ours[at]]:.4f} (ours)")
    print(f"greedy texts: {equal} of {arguments.prompts} equal")


if __name__ == "__main__":
    main()
