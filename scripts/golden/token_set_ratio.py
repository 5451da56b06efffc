"""Scores of thefuzz's token_set_ratio, for tests/games/webshop/token_set_ratio_test.cc.

In a virtual environment with thefuzz==0.19.0 and without python-Levenshtein:
python -W ignore scripts/golden/token_set_ratio.py > tests/golden/token_set_ratio.json
"""

import difflib
import itertools
import json
import platform
import random

from thefuzz import fuzz

assert fuzz.SequenceMatcher is difflib.SequenceMatcher, "python-Levenshtein is installed"

ATTRIBUTES = """long lasting|long-lasting|machine wash|machine washable|hand wash|easy to clean
easy clean|easy to use|high quality|high resolution|stainless steel|non slip|non-slip|anti slip
sulfate free|sulphate-free|paraben free|cruelty free|gluten free|sugar free|bpa free
wireless charging|fast charging|quick release|memory foam|rubber sole|ethylene vinyl
synthetic sole|arch support|teen girls|wide leg|cotton spandex|polyester cotton|100% cotton
heavy duty|water resistant|water proof|waterproof|easy install|noise cancelling|noise-canceling
hands free|ultra hd|1080p hd|dual band|eco friendly|eco-friendly
""".strip().replace("\n", "|").split("|")
OPTIONS = """x-large;xx-large;x-large | tall;small;medium;large;5x-large;red;blue;navy blue
light blue;dark grey;black | white;a1 black;a1-black;pack of 2;2 pack;2-pack;1 count (pack of 1)
12 ounce (pack of 6);8.5 wide;8.5 x-wide;9 m us;9 d(m) us;queen;king;california king;twin xl
84" x 27";84"w x 27"l;color red;size x large;('color', 'red');men's 8 / women's 10;mens 8
rose gold;gold rose;vanilla;french vanilla;64gb;64 gb;128gb + 6gb;style 01;style 02;style-02
us 7 = eu 39;w29 x l32;sea_salt;sea salt
""".strip().replace("\n", ";").split(";")

SPECIAL = [
    "", " ", "-", "...", "_", "__", "a", "A", "a a a", "a_b", "a b", "a-b", "don't", "dont",
    "don t", "don’t", "men's", "café", "cafe", "caf", "cafe\u0301", "naïve crème",
    "nave crme", "é", "éé ü", "ÀÉÎ x", "\x80\xffz", "a\x7fb", "ab", "a\x80b", "Āz", "½ cup",
    "1/2 cup", "² m", "ªº", "µm", "日本語", "日本", "日 本", "红色", "红色 xl", "红色 xl 大", "赤", "가방",
    "Ⅷ", "ⅷ", "x²", "ₓ₂", "①", "٣", "3", "ß", "ẞ", "ss", "İstanbul", "istanbul", "ΑΣ", "ας",
    "ǅ", "ǆ", "Ǆ", "ſ", "s", "K", "k", "Ω", "ω", "™ brand", "brand", "a\u200bb", "ab",
    "a\u00a0b", "a\u3000b", "\u3000", "a\tb\nc", "c b a", "🙂", "🙂 a", "𝐀", "𐐀", "𐐨", "१२ पैक",
    "हिन्दी", "naïve—crème",
]


def misspelt(rng, text, edits):
    """The text after some edits of one character, or of the order of its words."""
    for _ in range(edits):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:at] + rng.choice("aeinorst -_é") + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + 1:]
        elif kind == 2:
            text = text[:at] + text[at:at + 2][::-1] + text[at + 2:]
        elif kind == 3:
            text = text[:at].upper() + text[at:]
        else:
            words = text.split(" ")
            rng.shuffle(words)
            text = " ".join(words)
    return text


def of_letters(rng, letters, size):
    return "".join(rng.choices(letters, k=size))


def halves():
    """Pairs of one word each whose likeness ends in exactly .5."""
    for total in (16, 40, 80):
        for matches in range(1, total // 2):
            if (100 * 2 * matches * 2) % total == 0 and (200 * matches * 2 // total) % 2 == 1:
                rest = total // 2 - matches
                yield "a" * matches + "b" * rest, "a" * matches + "c" * rest


def around_85():
    """One word each; a score above 85 is a match. Of 400 characters 171 make 85.5."""
    yield "a" * 17 + "b" * 3, "a" * 17 + "c" * 3
    for matches in range(168, 175):
        yield "a" * matches + "b" * (201 - matches), "a" * matches + "c" * (199 - matches)


def around_200(rng):
    """Long texts on both sides of the length from which frequent characters do not count."""
    for size in (150, 198, 199, 200, 201, 205, 299, 300, 301, 400):
        for letters in ("ab", "abcdef ", "abcdefghijklmnopqrstuvwxyz"):
            text = of_letters(rng, letters, size)
            yield text, misspelt(rng, text, 6)
            yield of_letters(rng, letters, 30), text
    words = " ".join(ATTRIBUTES)
    yield words, words + " blue"
    yield "soft " + words, words[:230]
    yield words[:230], "soft " + words
    for frequent in (2, 3, 4):  # of 200 characters, those that occur up to three times count
        filler = "".join(chr(0x4E00 + i) for i in range(200 - frequent))
        yield "xyxy", filler[:90] + "x" * frequent + filler[90:]
        yield "x" * frequent + "y" * 196, filler[:90] + "x" * frequent + filler[90:]


def pairs():
    rng = random.Random(233)
    for text in ATTRIBUTES + OPTIONS:
        yield text, misspelt(rng, text, 1)
        yield misspelt(rng, text, 3), text
    for texts, number in ((ATTRIBUTES, 150), (OPTIONS, 200)):
        yield from rng.sample(list(itertools.combinations(texts, 2)), number)
    for attribute in rng.sample(ATTRIBUTES, 20):
        yield attribute, attribute + " " + rng.choice(OPTIONS)
        yield attribute + " " + rng.choice(ATTRIBUTES), rng.choice(ATTRIBUTES) + " " + attribute
    for end in "\x7f\x80\xff\u0100":  # characters 128 to 255 are dropped
        yield "ab" + end + "c", "abc"
    for text in SPECIAL:
        yield text, text
    yield from itertools.pairwise(SPECIAL)
    yield from rng.sample(list(itertools.permutations(SPECIAL, 2)), 100)
    for letters in ("ab", "abc", "ab ", "abc ab é日"):
        for _ in range(15):
            size1, size2 = rng.randrange(20), rng.randrange(20)
            yield of_letters(rng, letters, size1), of_letters(rng, letters, size2)
    yield from halves()
    yield from around_85()
    yield from around_200(rng)


print('{"command": "python -W ignore scripts/golden/token_set_ratio.py'
      ' > tests/golden/token_set_ratio.json",')
print(f' "python": "{platform.python_version()}", "thefuzz": "0.19.0 without python-Levenshtein",')
print(' "first, second, score": [')
lines = [json.dumps([a, b, fuzz.token_set_ratio(a, b)], ensure_ascii=False) for a, b in pairs()]
print(",\n".join(lines))
print("]}")
