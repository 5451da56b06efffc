"""The tokenizer of models/bundled: byte-level BPE, trained once on rows of make_demos.

    python3 -m venv VENV && VENV/bin/pip install tokenizers==0.23.3
    build/release/bin/make_demos --output_dir ROWS ...      # as scripts/train_bundled.sh does
    VENV/bin/python scripts/bundled_tokenizer.py FOLDER ROWS/*.jsonl

Writes tokenizer.json and tokenizer_config.json (the ChatML template) into FOLDER. Digits stand
alone, and so do the characters of product ids such as BO2I40LRV8, so that a model can copy them;
a word with the blank before it is mostly one token.
"""

import json
import pathlib
import sys

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 3072
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PIECES = (r" ?\[SEP\]| ?\d| ?[A-Z](?=[A-Z\d])| ?(?![A-Z][A-Z\d])[A-Za-z]+"
          r"| ?[^\sA-Za-z\d]+|\s+(?!\S)|\s+")
TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n'"
            " + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def texts(paths):
    """Each text of the rows once: what a scene's rows have in common would weigh too much."""
    seen = set()
    for path in paths:
        for line in open(path, encoding="utf-8"):
            for message in json.loads(line)["messages"]:
                text = message["content"]
                if text not in seen:
                    seen.add(text)
                    yield text
    for role in ["system", "user", "assistant"]:  # after <|im_start|>, without a blank
        yield from [role] * 10000


def main():
    folder, *rows = sys.argv[1:]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PIECES), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts(rows), trainer)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = dict(tokenizer_class="PreTrainedTokenizerFast", eos_token="<|im_end|>",
                  pad_token="<|endoftext|>", clean_up_tokenization_spaces=False,
                  chat_template=TEMPLATE)
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


main()
