from random import Random

import pyarrow as pa
import pytest

from paraphrastic.text import tokenizer
from paraphrastic.text.columns import warning_without_spaces
from paraphrastic.text.tokenizer import tokenize


def tokens(text, form="NFC"):
    """Return the tokens of one text."""
    return tokenize(pa.array([text], pa.string()), form)[0].as_py()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A Dog, Running.", "a dog , running ."),
        ("Wait; why? (Because!) [so] {there} <now>", "wait ; why ? ( because ! ) [ so ] { there } < now >"),
        ("What?! No!!!", "what ?! no !!!"),
        ("well-known and/or AT&T's R&D", "well-known and/or at&t 's r&d"),
        ("$1,000.50 is 50% of £2,001 at 10:30, 3:1", "$ 1,000.50 is 50 % of £ 2,001 at 10:30 , 3:1"),
        ("1,2,3 a,b 4, 5,", "1,2,3 a , b 4 , 5 ,"),
        ("'1,000' and '10:30'", "` 1,000 ' and ` 10:30 '"),
        ("US$5", "us $ 5"),
        ("a—b 1990–95 c--d ---", "a -- b 1990 -- 95 c -- d --"),
        ("so... and. . .but…now", "so ... and ... but ... now"),
        ("P(B|A) *is*", "p ( b | a ) * is *"),
    ],
)
def test_punctuation(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can't, won't, don't", "i ca n't , wo n't , do n't"),
        ("He's I'm they're you've we'll I'd've", "he 's i 'm they 're you 've we 'll i 'd 've"),
        ("Beyoncé's U.S.'s", "beyoncé 's u.s. 's"),
        ("You cannot. Gonna, wanna, gotta", "you can not . gon na , wan na , got ta"),
        ("gimme, lemme", "gim me , lem me"),
        ("'Tis so, 'twas", "'t is so , 't was"),
        ("the girls' dresses.", "the girls ' dresses ."),
        ("rock 'n' roll of the '90s for 'em", "rock 'n' roll of the '90s for 'em"),
        ("O'Brien at 5 o'clock, y'all", "o'brien at 5 o'clock , y'all"),
        ("don’t, don‘t, don´t", "do n't , do n't , do n't"),
        ("Kanna gottardo juwanna", "kanna gottardo juwanna"),
    ],
)
def test_contractions(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said "yes".', "he said `` yes '' ."),
        ('"Yes," he said, "I (or "we") do."', "`` yes , '' he said , `` i ( or `` we '' ) do . ''"),
        ("“yes” «yes» „yes”", "`` yes '' `` yes '' `` yes ''"),
        ("``ugly'' ''yes''", "`` ugly '' `` yes ''"),
        ("''yes'' no", "`` yes '' no"),
        ('he said " yes " and " no "', "he said `` yes '' and `` no ''"),
        ('the song"Yes", a " film"', "the song `` yes '' , a `` film ''"),
        ("'' so , '' he said", "`` so , '' he said"),
        ('a 5" by 6" pipe', "a 5 '' by 6 '' pipe"),
        (' " so', "`` so"),
        ('so "', "so ''"),
        ("Called 'Joe', 'Ann'. `Eve'", "called ` joe ' , ` ann ' . ` eve '"),
        ("\"'Yes,' she said.\"", "`` ` yes , ' she said . ''"),
    ],
)
def test_quotation_marks(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Smith vs. Dr. J. R. R. Tolkien.", "mr. smith vs. dr. j. r. r. tolkien ."),
        ("In the U.S. at 5 p.m. they left", "in the u.s. at 5 p.m. they left"),
        ("e.g. this, i.e. that, etc.", "e.g. this , i.e. that , etc."),
        ("He left the U.S.", "he left the u.s."),
        ("anti-U.S. (U.S.) 'Mr. X'", "anti-u.s. ( u.s. ) ` mr. x '"),
        ("No. 5 of no. 1,000. I said no.", "no. 5 of no. 1,000 . i said no ."),
        ("Plan B. is plan B.", "plan b. is plan b ."),
        ("So do I. Then I do.", "so do i . then i do ."),
        ("It ended. It began.", "it ended . it began ."),
        ("He ended it.) (It began.'' So.", "he ended it . ) ( it began . '' so ."),
    ],
)
def test_periods_and_abbreviations(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See http://x.com/a?b=c,d. It is.", "see http://x.com/a?b=c,d . it is ."),
        ("(www.x.com/a%20b)", "( www.x.com/a%20b )"),
        ("to me.too@x.co.uk, please", "to me.too@x.co.uk , please"),
        ("RT @bob_2's and @ann:", "rt @bob_2 's and @ann :"),
        ("nice :) or :-( ;)", "nice :) or :-( ;)"),
        ("#tag and # tag, C#", "# tag and # tag , c#"),
        ("http://a.b/grey?its=cannot", "http://a.b/grey?its=cannot"),
    ],
)
def test_addresses_names_smileys_and_hashtags(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-LRB- a -RRB- -LSB- b -RSB- -LCB- c -RCB-", "( a ) [ b ] { c }"),
        (r"and\/or \*", "and/or *"),
        ("R&amp;D &quot;a&quot; it&rsquo;s a&nbsp;b", "r&d `` a '' it 's a b"),
        ("&lt;a&gt; b&mdash;c&hellip;", "< a > b -- c ..."),
        ("&amp;amp; &amp;quot;a", "& `` a"),
    ],
)
def test_escapes_of_treebanks_and_web_pages(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Grey greyish greyhound", "gray grayish greyhound"),
        ("colour, favourite neighbourhood; four hours", "color , favorite neighborhood ; four hours"),
        ("centre theatres kilometre genre", "center theaters kilometer genre"),
        ("organised analysing analyses promise organism", "organized analyzing analyses promise organism"),
        ("travelling unlabelled called", "traveling unlabeled called"),
        ("defence programme programmed fence", "defense program programmed fence"),
    ],
)
def test_british_spelling(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (None, ""),
        (" \t\r\n\u00a0\u200b\u3000 ", ""),
        ("a\u00a0b\u2003c\u200bd\u2028e\x00f\x1fg", "a b c d e f g"),
        ("\x93it\x92s\x94 \x96 so\x85", "`` it 's '' -- so ..."),
        ("\ufeffto\u00adge\u200eth\u061cer", "together"),
        ("X‐ray −5", "x-ray -5"),
        ("e\u0301te\u0301", "\u00e9t\u00e9"),
        ("日本語。 中文，好", "日本語 。 中文 ， 好"),
        ("مرحبا، كيف؟", "مرحبا ، كيف ؟"),
        ("हिन्दी।", "हिन्दी ।"),
        ("👩\u200d🔬 ok", "👩\u200d🔬 ok"),
        ("\x02\x03\x04 a", "a"),
        ("the ﬁne m² ￡ １", "the ﬁne m² ￡ １"),  # training text keeps compatibility characters
    ],
)
def test_empty_text_and_special_characters(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the ﬁne ﬂower, eﬃcient", "the fine flower , efficient"),
        ("ＡＢＣ１２３ ｶﾞ", "abc123 ガ"),
        ("（中文，好！）", "( 中文 , 好 ! )"),
        ("m² 10³ H₂O 1ª", "m2 103 h2o 1a"),
        ("ℝ 𝐀𝑏 Ⅳ № ㎏ ĳ ﷺ", "r ab iv no kg ij صلى الله عليه وسلم"),
        ("ﻣﺮﺣﺒﺎ", "مرحبا"),
        ("5″ a‼ b․", "5 '' a !! b ."),
        ("don´t so…but", "do n't so ... but"),  # which NFKC alone would write with a space and an accent
        ("H\u0331 İstanbul", "\u1e96 istanbul"),
    ],
)
def test_compatibility_characters_are_the_characters_that_they_stand_for(text, expected):
    assert tokens(text, "NFKC") == expected
    assert tokenize(pa.array([text, "x " * 4000]), "NFKC").to_pylist()[0] == expected


TOKENS = """
    a b . , " '' `` ' ` ... - -- $ # @ n't 's mr. u.s. no. 5 1,000 : ( ) ? ! cannot gonna &amp; &quot; -lrb- :) | *
    http://x.com/a?b a@b.co @bob grey colour plan 'tis ’ “ ” — … é 日 😀
"""
SPACES = [" ", "  ", "\t", "\n", "\x00", "\x02", "\x85", "\x92", "\xa0", "\xad", "\u200b", "\u2028", "\ufeff"]


def random_texts():
    """Return texts of random tokens and spaces."""
    generator, parts = Random(0), [*TOKENS.split(), *SPACES]
    return ["".join(generator.choices(parts, k=generator.randrange(12))) for _ in range(20_000)]


def characters(start, stop):
    """Return the characters of a range of code points, without surrogates."""
    return [chr(code) for code in range(start, stop) if not 0xD800 <= code < 0xE000]


@pytest.mark.parametrize("stop", [0x3100, pytest.param(0x30000, marks=pytest.mark.slow)])
def test_white_space_and_control_characters_in_tokens(stop):
    texts = random_texts() + [f"a{character}b" for character in characters(0, stop)]
    for text in tokenize(pa.array(texts)).to_pylist():
        assert text == " ".join(text.split())
        assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text)


@pytest.mark.parametrize("stop", [0x3100, pytest.param(0x110000, marks=pytest.mark.slow)])
def test_second_tokenization_of_each_character(stop):
    once = tokenize(pa.array(characters(0, stop)))
    assert tokenize(once).equals(once)


def test_texts_are_independent_of_each_other(monkeypatch):
    texts = random_texts()[:150]
    together = tokenize(pa.array(texts)).to_pylist()
    assert together == [tokens(text) for text in texts]
    monkeypatch.setattr(tokenizer, "CHUNK", 50)
    assert tokenize(pa.chunked_array([texts[:7], [], texts[7:]], pa.string())).to_pylist() == together
    for empty in (pa.array([], pa.string()), pa.chunked_array([], pa.string())):
        assert tokenize(empty).equals(pa.array([], pa.string()))


@pytest.mark.parametrize("part", ["word ", '"a ', "''", "a.b.", "(", "'", "“", "1,"])
def test_text_of_a_million_characters(part):
    long, short = tokenize(pa.array([part * (1_000_000 // len(part)), "ok."])).to_pylist()
    assert len(long) >= 900_000
    assert short == "ok ."


def read_lines(path):
    return [line.removesuffix("\r") for line in path.read_bytes().decode().removesuffix("\n").split("\n")]


@pytest.mark.real_data
def test_sick_as_tokenized_by_the_authors_of_the_papers(mirror):
    (raw,) = mirror.glob("raw.githubusercontent.com/brmson/dataset-sts/*/data/sts/sick2014/SICK_test_annotated.txt")
    (tokenized,) = mirror.glob("raw.githubusercontent.com/PrincetonML/SIF/*/data/sicktest")
    texts = [text for line in read_lines(raw)[1:] for text in line.split("\t")[1:3]]
    expected = [text.strip() for line in read_lines(tokenized) for text in line.split("\t")[:2]]
    assert len(texts) == len(expected) == 2 * 4927
    actual = tokenize(pa.array(texts)).to_pylist()
    assert [pair for pair in zip(actual, expected, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.real_data
def test_second_tokenization_of_real_text(mirror):
    files = [*mirror.rglob("msr-para-*.tsv"), *mirror.rglob("*.test.tsv"), *mirror.rglob("asset.*.*")]
    once = tokenize(pa.array([text for file in files for line in read_lines(file) for text in line.split("\t")]))
    twice = tokenize(once)
    changed = sum(a != b for a, b in zip(once.to_pylist(), twice.to_pylist(), strict=True))
    assert len(once) > 80_000
    assert changed <= len(once) * 0.0003


@pytest.mark.real_data
def test_raw_and_tokenized_versions_of_the_same_sentences(mirror):
    (tokenized,) = mirror.rglob("test.8turkers.tok.norm")
    (raw,) = mirror.rglob("asset.test.orig")
    a, b = (tokenize(pa.array(read_lines(file))).to_pylist() for file in (tokenized, raw))
    assert sum(x == y for x, y in zip(a, b, strict=True)) >= 0.96 * len(a)


PIECES = [
    *"abcz .,.'\"`-()[]{}!?:;$%#@*/\\<>&|~_+=0159  ",
    *("mr.", "u.s.", "n't", "can not", "cannot", "grey", "colour", "'s", "...", "--", "''", "``", "-lrb-", "&quot;"),
    *("&amp;", "3,000", "10:30", "www.a.com", "x@y.org", "@me", ":)", "e.g.", "no. 5", "gonna", "'tis", "a.", "etc."),
    *("cancelled", "organise", "rock 'n' roll", "C#", "THE"),
    *"’‘´“”«»–—…‑£é日中。，؟।😀ﬁＡ²ℝ¨½\u0301\u0316\u0130\u1e9e\u212a\u00a0\u00ad\u200d\ufeff\x85\x93\x00\x02\n",
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_short_text_has_the_tokens_of_long_text(seed, form):
    generator = Random(seed)
    texts = ["".join(generator.choices(PIECES, k=generator.randrange(25))) for _ in range(2000)]
    whole = tokenize(pa.array(texts), form).to_pylist()  # too long for Python's regular expressions
    assert [tokenize(pa.array(texts[i : i + 2]), form).to_pylist() for i in range(0, 2000, 2)] == [
        whole[i : i + 2] for i in range(0, 2000, 2)
    ]


@pytest.mark.parametrize("text", ["a dog", "a dog.\n", "É.", "\x02", None, ""])
def test_short_text_of_any_kind(text):
    whole = tokenize(pa.array([text, "x " * 4000])).to_pylist()[0]
    assert tokenize(pa.array([text], pa.string())).to_pylist() == [whole]
    assert tokenize(pa.chunked_array([[text], [text]], pa.string())).to_pylist() == [whole, whole]


SCRIPTS = [
    *("A dog runs.", "It’s “naïve”…", "Собака бежит.", "一只狗在跑。", "الكلب يركض؟", "कुत्ता दौड़ता है।", "한국어"),
    *("e\u0301te\u0301", "happy 😀👩🏽\u200d🔬", "犬が走る、", "\x93Windows\x94", "a\u00a0b"),
    *("a dog " * 300, "一只狗。" * 300),
]


@pytest.mark.parametrize("texts", [*([text] for text in SCRIPTS), SCRIPTS])
def test_no_rule_is_compiled_for_short_text_of_any_script(monkeypatch, texts):
    monkeypatch.setattr(tokenizer, "tokenize_chunk", None)
    assert all(tokenize(pa.array(texts)).to_pylist())


@pytest.mark.parametrize("part", ["-a", ".a.ab", "+a", "'a"])
def test_long_words_are_left_to_regular_expressions_of_linear_time(monkeypatch, part):
    monkeypatch.setattr(tokenizer, "_tokenize_short", None)
    assert tokenize(pa.array([part * 500]))[0].as_py()


CLAUSES = ["我喜欢苹果。", "わたしはねこがすきです", "東京へ行きました", "ฉันชอบกินข้าวผัดกับไข่ดาว", "ខ្ញុំចូលចិត្តញ៉ាំបាយ"]


@pytest.mark.parametrize("text", CLAUSES)
def test_warning_of_scripts_without_spaces(text):
    (line,) = warning_without_spaces(pa.array([text, "two words"]))
    remedy = "models of words, such as avg, take a clause for one word; use charagram, or put spaces between words"
    assert line == f"1 of 2 texts are in a script without spaces between words: {remedy}"


@pytest.mark.parametrize(
    "text", ["我 喜欢 苹果 。", "コンピューターを 使う", "Donaudampfschifffahrtsgesellschaft", "나는 사과를 좋아한다"]
)
def test_no_warning_of_words(text):
    assert warning_without_spaces(pa.array([text])) == []
    assert warning_without_spaces(pa.array(["我喜欢苹果"] + ["a dog"] * 30)) == []
