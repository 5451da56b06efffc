"""Small tokenizers of each kind and what the tokenizers library makes of 3,200 strings with them,
for tests/lm/tokenizer/tokenizer_test.cc.

In a virtual environment with tokenizers==0.23.3:
TOKENIZERS_PARALLELISM=false python scripts/golden/tokenizer_kinds.py

It writes tests/golden/tokenizers/: <kind>.json holds tokenizer.json and tokenizer_config.json of a
tokenizer that was trained on the sentences below; strings.json what the strings are made of, and
for each string and kind a hash of its ids and of the text that they are decoded to.
"""

import hashlib
import json
import os
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import __version__, pre_tokenizers, trainers

COMMAND = "TOKENIZERS_PARALLELISM=false python scripts/golden/tokenizer_kinds.py"
FOLDER = "tests/golden/tokenizers"
STRINGS = 3200

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def parts_of(text):
    """The parts between bars and line ends, with Python's escapes; ¦ is a bar."""
    parts = text.replace("\n", "|").split("|")
    return [p.encode("raw_unicode_escape").decode("unicode_escape").replace("¦", "|") for p in parts]


WORDS = """the a of to in and that it is was for on are with as at be this have from or one had by
word but not what all were when your can said there use an each which she do how their if will up
other about out many then them these so some her would make like him into time has look two more
write go see number no way could people my than first water been call who oil its now find long down
day did get come made may part think thought thinking action observation craft inventory ingredients
search click buy door kitchen open look around focus on thermometer task done score reward""".split()
SENTENCES = parts_of(r"""Der schnelle Fuchs läuft über die grüne Straße.|L'été, nous irons à la forêt près du château.
El niño comió mañana piñas en España.|Быстрая лиса прыгает через ленивую собаку.|Η γρήγορη αλεπού τρέχει.
今天天气很好，我们去公园。|日本語のテキストをトークンに分ける。|한국어 문장도 있습니다.|الثعلب السريع يقفز فوق الكلب
तेज़ लोमड़ी कुत्ते के ऊपर कूदती है।|สวัสดีชาวโลก|השועל המהיר קופץ|def add(a, b):\n    return a + b\n
for (int i = 0; i < n; ++i) {\n\tsum += x[i];\n}|{"key": [1, 2.5, null], "other": "value"}|I'm sure they'll say we've done it, isn't it?
x = 3.14159; y = 1,000,000; z = 0x1F|Hello 😀 world 👍🏽!|Thought: I need 4 planks.\nAction: craft 4 planks using 1 log\n""")

PARTS = parts_of(r"""Hello| world|hello|the| the|THE|  two|   three|word| word|word,|swordfish|keyword|It's| isn't| WE'LL| I'm|'s|'S|'ſ|'re|'ve
’s|don't|naïve| café|cafe\u0301|e\u0301\u0323|\u0301|a\u0308|Å|\u212B|ﬁ|½|²|①|Ⅷ|ⅷ|١٢٣|१२|12345|1|22|333|4444|3.14|1,000|0x1F|-5|1e10|7th
straße|Größe|über| Straße|Ελλάδα| αλεπού|ΑΣ|Россия| собаку|ё|й|и\u0306|日本語|今天| 天气|。|，|中文 word|トークン|か\u3099|한국어|\u1112\u1161\u11ab| 문장
العربية|\u0627\u0653|שלום|हिन्दी|क्षि|สวัสดี|ไทย|ქართული|አማርኛ|😀|👍🏽|👨‍👩‍👧|🇩🇪|❤️|🏳️‍🌈| 😀|𝐀|𐐨|𠀀|\U0001F600\U0001F600
 |  |   |    |\t|\t\t|\n|\n\n| \n|\n |\r\n|\r|\r\n\r\n|\v|\f|\u0085|\u00a0|\u1680|\u180e|\u2003|\u2009|\u200b|\u2028|\u2029|\u202f|\u3000|\ufeff|\u00ad
\x00|\x01|\x07|\x1b[0m|\x1c|\x1f|\x7f|\x80|\ufffd|\ufffe|\U0010ffff|\u200d|\u200c|\u2060
.|,|!|?|...|…|--|—| - |(|)|[|]|{|}|<|>|/|\\|'|"|“|”|`|```|#|##|###|$|%|&|*|+|=|_|__|~|^|@|;|:|¿|€|£|™
def f(x):|\n    return x|if (a && b) {|}\n|x[i]++;|#include <vector>|std::string| == |!=|->|=>|/* no */|// yes|\n\t\tfoo();|<b>bold</b>|&amp;|https://example.org/a?b=c&d=1|C:\\x\\y
Thought:| Action:|\nAction: |[click]|search[red shoes]|craft 4 planks using 1 log|Observation: | go to kitchen
▁|▁▁|▁a|a▁b|Ġ|Ċ|Ġthe|<0x0A>|<0xE2>|<unk>|<s>|</s>| <s> |<¦endoftext¦>|<¦im_start¦>|<¦im_end¦>|<¦eot_id¦>|<¦begin_of_text¦>|<¦start_header_id¦>
[INST]|[/INST]| [INST] |<think>|</think>|<tool_call>|<left>| <left>| \n<left>|<right>|<right> |<right> \n\t|<tag>|<tag>more|<tag>mor|word.|wordy|word_|_word|added word| added word|Added word
user|assistant|system|\nuser\n|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|ababababababab|                                |!!!!!!!!!!!!|------|0000000000|\n\n\n\n|zzzzzzz|qqq""")


def strings(parts):
    """Every part, then strings of 1 to 8 parts; the test has the same rule."""
    state = 1

    def draw(n):
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return (state >> 16) % n

    out = list(parts)
    while len(out) < STRINGS:
        out.append("".join(parts[draw(len(parts))] for _ in range(1 + draw(8))))
    return out


def corpus():
    rng = random.Random(6)
    for _ in range(1500):
        words = rng.choices(WORDS, k=rng.randrange(3, 12))
        yield " ".join(words).capitalize() + rng.choice([".", "!", "?", ":", ", 12", " 2024\n"])
    for _ in range(40):
        yield from SENTENCES


def special(*contents):
    return [AddedToken(content, special=True, normalized=False) for content in contents]


def plain(content, **how):
    return AddedToken(content, special=False, **how)


def bpe(tokenizer, first=(), size=700, byte_level=True):
    alphabet = pre_tokenizers.ByteLevel.alphabet() if byte_level else []
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(first), show_progress=False,
                                  initial_alphabet=alphabet, limit_alphabet=330)
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def byte_level(pre_tokenizer, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def gpt2():
    """Byte-level with GPT-2's pattern; merges written as one string each; every way of matching."""
    tokenizer = bpe(byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False)))
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", special=True, normalized=True)])
    tokenizer.add_tokens([
        plain("<left>", lstrip=True, normalized=False), plain("<right>", rstrip=True),
        plain("word", single_word=True), plain("<tag>"), plain("<tag>more"), plain("re>x")])
    return tokenizer, "<|endoftext|>", "<|endoftext|>"


def prefix():
    """SmolLM's digits, one by one, and a space before every piece of text."""
    tokenizer = byte_level(pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True)]))
    bpe(tokenizer, special("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    return tokenizer, "<|im_start|>", "<|im_end|>"


def llama3():
    tokenizer = bpe(byte_level(split(LLAMA3), ignore_merges=True))
    tokenizer.add_special_tokens(special(
        "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
        "<|eom_id|>", "<|eot_id|>"))
    return tokenizer, "<|begin_of_text|>", "<|eot_id|>"


def qwen2():
    tokenizer = byte_level(split(QWEN2))
    tokenizer.normalizer = normalizers.NFC()
    bpe(tokenizer)
    tokenizer.add_special_tokens(special("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    tokenizer.add_tokens([plain("<think>", normalized=False), plain("</think>", normalized=False),
                          plain("<tool_call>", normalized=False), plain("cafe\u0301")])
    return tokenizer, "", "<|im_end|>"


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def byte_fallback(tokenizer, *more, size=900):
    """With <unk>, <s>, </s> and a token for each byte, as SentencePiece's vocabularies have them."""
    first = special("<unk>", "<s>", "</s>", *more)
    bpe(tokenizer, first + [AddedToken(b, special=True) for b in BYTES], size, byte_level=False)
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = [t for t in data["added_tokens"] if t["content"] not in BYTES]
    data["model"].update(unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    return Tokenizer.from_str(json.dumps(data))


def without_spaces():
    return decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                              decoders.Strip(" ", 1, 0)])


def llama2():
    """Metaspace by the normalizer; the whole text is one piece."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer = byte_fallback(tokenizer)
    tokenizer.pre_tokenizer = None
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"),
                                                 normalizers.Replace(" ", "▁")])
    tokenizer.decoder = without_spaces()
    tokenizer.add_tokens([plain("added word"), plain("<tool_call>", normalized=False)])
    return tokenizer, "<s>", "</s>"


def mistral():
    """Metaspace by the pre-tokenizer, only where the text begins."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    tokenizer = byte_fallback(tokenizer, "[INST]", "[/INST]")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = without_spaces()
    return tokenizer, "<s>", "</s>"


def unknown():
    """No byte fallback; unknown characters are fused; Metaspace decoder; NFKC."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    bpe(tokenizer, special("<unk>", "<s>", "</s>"), 600, byte_level=False)
    return tokenizer, "<s>", "</s>"


KINDS = [gpt2, prefix, llama3, qwen2, llama2, mistral, unknown]


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def text_of(value):
    return json.dumps(value, ensure_ascii=False)


def digest(text, digits):
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def row(tokenizer, text):
    """Hashes of: ids, the text of these, and ids where special tokens are taken as plain text."""
    tokenizer.encode_special_tokens = False
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    back = tokenizer.decode(ids, skip_special_tokens=False)
    tokenizer.encode_special_tokens = True
    plain = tokenizer.encode(text, add_special_tokens=False).ids
    hashes = digest(" ".join(map(str, ids)), 6) + digest(back, 4)
    return hashes if plain == ids else hashes + digest(" ".join(map(str, plain)), 6)


def write_kind(kind):
    tokenizer, bos, eos = kind()
    data = json.loads(tokenizer.to_str())
    if kind is gpt2:  # the older spelling
        data["model"]["merges"] = [" ".join(merge) for merge in data["model"]["merges"]]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    config = {"bos_token": bos or None, "eos_token": {"content": eos}}
    lines = ["{" + f'"command": {text_of(COMMAND)}, "tokenizers": "{__version__}",',
             f'"tokenizer_config": {text_of(config)},', '"tokenizer": {']
    for key, value in data.items():
        end = "," if key != list(data)[-1] else "}}"
        lines.append(f" {text_of(key)}: {text_of(value)}{end}")
    write_lines(f"{FOLDER}/{kind.__name__}.json", lines)
    return tokenizer


def broken_utf8():
    """Byte strings and what Python's errors="replace" makes of them."""
    rng = random.Random(8)
    starts = [b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xe0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80",
              b"\xc0\xaf", b"\xff", b"\x80", b"\xf0\x80\x80\x80", b"\xe2\x28\xa1", b"\xf8\x88\x80"]
    pool = [0x20, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1,
            0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF]
    texts = starts + [b"a" + s + b"b" for s in starts] + [s + t for s in starts for t in starts[:4]]
    texts += [bytes(rng.choices(pool, k=rng.randrange(1, 9))) for _ in range(120)]
    return [[text.hex(), text.decode(errors="replace")] for text in texts]


os.makedirs(FOLDER, exist_ok=True)
tokenizers = [write_kind(kind) for kind in KINDS]
lines = ["{" + f'"command": {text_of(COMMAND)}, "tokenizers": "{__version__}",',
         f'"kinds": {text_of([kind.__name__ for kind in KINDS])},',
         '"broken UTF-8": ' + text_of(broken_utf8()) + ",",
         f'"parts": {json.dumps(PARTS)},',
         '"each string and kind: SHA-256 of ids, 6 digits; of their text, 4; of plain ids, 6, if '
         'they differ": [']
rows = [text_of(" ".join(row(t, text) for t in tokenizers)) for text in strings(PARTS)]
lines += [line + "," for line in rows[:-1]] + [rows[-1], "]}"]
write_lines(f"{FOLDER}/strings.json", lines)
