"""Writes texts with the numbers that the reference tokenizer gives them, as JSON: test/fixtures/sentence-piece.json.

    python3.11 -m venv venv && venv/bin/pip install sentencepiece==0.2.3 protobuf
    venv/bin/python tokenizer-cases.py [how many texts of random signs, 100] > ../../../test/fixtures/sentence-piece.json

The reference is SentencePiece with its normalisation `nmt_nfkc` and the pieces and scores in vocabulary.tsv;
`npm run format` gives the lines their form. With 10000 the tests compare as many; the texts are the same on every
machine.
"""

import json
import pathlib
import random
import sys

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_pb2

CONTROL, UNKNOWN, NORMAL = 3, 2, 1
TYPES = {"<s>": CONTROL, "<pad>": CONTROL, "</s>": CONTROL, "<mask>": CONTROL, "<unk>": UNKNOWN}
TEXTS = [
    "",
    "   \n\t",
    "query: The library opens at nine.",
    "Die Bücherei öffnet um neun Uhr, samstags erst um zehn.",
    "La bibliothèque ouvre à neuf heures ; l’été, à dix.",
    "La biblioteca abre a las nueve. ¿Y los sábados?",
    "A biblioteca não abre às segundas-feiras.",
    "La biblioteca apre alle nove, perché il sabato c’è mercato.",
    "De bibliotheek gaat om negen uur open.",
    "Biblioteka otwiera się o dziewiątej, w sobotę później.",
    "Knihovna otevírá v devět hodin; příští týden je zavřeno.",
    "Biblioteca se deschide la ora nouă. Știți și ce țară este?",
    "A könyvtár kilenckor nyit, őszi szünetben zárva.",
    "Kirjasto avautuu yhdeksältä.",
    "Biblioteket öppnar klockan nio, på lördagar tio.",
    "Kütüphane saat dokuzda açılıyor, İstanbul’da onda.",
    "Thư viện mở cửa lúc chín giờ, trừ ngày lễ.",
    "Thu\u031b vie\u0323\u0302n mo\u031b\u0309 cu\u031b\u0309a",
    "Perpustakaan buka pukul sembilan.",
    "Maktaba inafunguliwa saa tatu asubuhi.",
    "Библиотека открывается в девять часов. Ёлка!",
    "Бібліотека відчиняється о дев’ятій; її знають усі.",
    "Η βιβλιοθήκη ανοίγει στις εννέα. Ὀδυσσεύς",
    "تفتح المكتبة أبوابها في الساعة التاسعة.",
    "الكِتَابُ مُهِمٌّ جِدًّا",
    "הספרייה נפתחת בתשע.",
    "בְּרֵאשִׁית בָּרָא",
    "کتابخانه ساعت نه باز می\u200cشود.",
    "पुस्तकालय नौ बजे खुलता है। क़िला",
    "গ্রন্থাগার নয়টায় খোলে।",
    "நூலகம் ஒன்பது மணிக்குத் திறக்கும்.",
    "ห้องสมุดเปิดเวลาเก้าโมงเช้า ทำน้ำ",
    "图书馆九点开门，星期六十点开门。",
    "圖書館九點開門。",
    "図書館は九時に開きます。ｶﾞｷﾞ ﾊﾟﾝ ㍿ ①",
    "도서관은 아홉 시에 엽니다.",
    "\u1112\u1161\u11ab\u1100\u1173\u11af",
    "a\u0301 e\u0301\u0323 o\u0302\u0323 ￡１２３　全角～",
    "ﬁnancial ½ × ² … № ™",
    "<s> in a text </s> and <mask> <unk>",
    "a\u0001b\u0007c\u200bd\ufeffe\u00adf\u2581g\u0000h",
    "𐎠𐎠 𐎠 x𐎠y",
    "🦉 owls 👩\u200b💻 code",
    "https://example.org/a?b=c_d&e=%20 me@example.org 1,234.56 €",
    "x" * 300,
]
# Latin, Greek and Cyrillic, Hebrew and Arabic, Indic, Thai and Lao, Vietnamese and old Greek, punctuation, kana, Han,
# Hangul, halfwidth and fullwidth forms, emoji.
BLOCKS = [
    *[(0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x52F), (0x5D0, 0x5EA), (0x620, 0x6D3), (0x900, 0x97F), (0x980, 0xDFF)],
    *[(0xE00, 0xEFF), (0x1E00, 0x1FFF), (0x2010, 0x2027), (0x2070, 0x23FF), (0x3040, 0x30FF), (0x4E00, 0x9FA5)],
    *[(0xAC00, 0xD7A3), (0xFF01, 0xFFDC), (0x1F300, 0x1F64F)],
]


def random_texts(count):
    chance = random.Random(8)
    for _ in range(count):
        blocks = [chance.choice(BLOCKS), chance.choice(BLOCKS)]
        signs = (chr(chance.randint(*chance.choice(blocks))) for _ in range(16))
        yield "".join(sign + chance.choice(["", "", "a", "b ", " ", "ing"]) for sign in signs)


def reference():
    normaliser = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
    model = model_pb2.ModelProto.FromString(normaliser.serialized_model_proto())
    del model.pieces[:]
    path = pathlib.Path(__file__).with_name("vocabulary.tsv")
    for line in path.read_text("utf8").removesuffix("\n").split("\n"):
        piece, score = line.split("\t")
        model.pieces.add(piece=piece, score=float(score), type=TYPES.get(piece, NORMAL))
    model.trainer_spec.model_type = 1
    model.trainer_spec.bos_id, model.trainer_spec.pad_id = 0, 1
    model.trainer_spec.eos_id, model.trainer_spec.unk_id = 2, 3
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def main(count="100"):
    tokenizer = reference()
    cases = ([text, tokenizer.encode(text)] for text in [*TEXTS, *random_texts(int(count))])
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    print(f"[\n{lines}\n]")


main(*sys.argv[1:])
