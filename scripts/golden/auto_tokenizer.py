"""What AutoTokenizer of transformers makes of the folders that we export, for
tests/training/model/export_model_test.cc.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13.0 transformers==5.24.0
    VENV/bin/python scripts/golden/auto_tokenizer.py

Writes tests/golden/auto_tokenizer.json. A folder has a configuration of tests/golden/models, a tokenizer of
tests/golden/tokenizers and the class that the models of this family name in tokenizer_config.json; the
bundled model is as it is. AutoTokenizer goes by the class and by config.json's model_type, and for some
families takes the rules of a class of its own in place of those in tokenizer.json.
"""

import hashlib
import json
import pathlib
import re
import tempfile

import transformers

COMMAND = "python scripts/golden/auto_tokenizer.py"
FOLDERS = {
    "llama": ("llama3", "PreTrainedTokenizerFast"),
    "mistral": ("mistral", "LlamaTokenizer"),
    "qwen2": ("qwen2", "Qwen2Tokenizer"),
    "qwen3": ("qwen2", "Qwen2Tokenizer"),
    "bundled": None,
}
STRINGS = [
    "Thought: I need B0ABC12D9F, then 12 planks.\nAction: search[red shoes [SEP] 40.00 dollars]",
    "WebShop [SEP] Instruction: [SEP] i need a size 9.5 men's shoe in BO2I40LRV8, lower than 1,000.00",
    " a  b\n\n c   ", "  leading", "x = 3.14159;\t\ty = 1,000\n", "I'm here; WE'LL don't, 's",
    "naïve café 今天天气很好 日本語 😀👍🏽", "\r\n\r\n \u3000\u2003.", "<|im_start|>user\nhi<|im_end|>\n",
    "[INST] go to kitchen [/INST]</s>", "craft 4 oak planks using 1 oak log",
]


def compose(folder, family, kind, tokenizer_class):
    golden = json.loads(pathlib.Path(f"tests/golden/tokenizers/{kind}.json").read_text())
    config = {"tokenizer_class": tokenizer_class}
    for name, value in golden["tokenizer_config"].items():
        if value is not None:
            config[name] = value["content"] if isinstance(value, dict) else value
    (folder / "tokenizer.json").write_text(json.dumps(golden["tokenizer"]))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    source = pathlib.Path(f"tests/golden/models/{family}/config.json")
    (folder / "config.json").write_text(source.read_text())


def described(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    return {
        "model_type": json.loads((folder / "config.json").read_text())["model_type"],
        "tokenizer_class": config["tokenizer_class"],
        "auto_class": type(tokenizer).__name__,
        "ids": [tokenizer(text, add_special_tokens=False)["input_ids"] for text in STRINGS],
    }


def main():
    folders = {}
    for name, parts in FOLDERS.items():
        if parts is None:
            path = pathlib.Path("models") / name
            folders[name] = described(path)
            digest = hashlib.sha256((path / "tokenizer.json").read_bytes()).hexdigest()
            folders[name]["tokenizer_sha256"] = digest
            continue
        with tempfile.TemporaryDirectory() as scratch:
            compose(pathlib.Path(scratch), name, *parts)
            folders[name] = {"tokenizer": parts[0]} | described(pathlib.Path(scratch))
    golden = {"command": COMMAND, "transformers": transformers.__version__, "strings": STRINGS,
              "folders": folders}
    text = json.dumps(golden, ensure_ascii=False, indent=1)
    text = re.sub(r"\d,\s+(?=\d)", lambda found: found[0][:2], text)  # the ids of a text on a line
    pathlib.Path("tests/golden/auto_tokenizer.json").write_text(text + "\n", encoding="utf-8")


main()
