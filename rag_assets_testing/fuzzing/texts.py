"""Random text in many scripts, with what makes splitting and counting go wrong: no spaces, joined
emoji, controls."""

import random

_WORDS = {
    "latin": "iron ferritin sheep e.g. i.e. Fig. et al. 12.5% p<0.05 SARS-CoV-2 naïve Größe 3,4 No. Dr. œuvre".split(),
    "cyrillic": "железо ферритин овца зимой т.е. рис. убывает".split(),
    "greek": "σίδηρος φερριτίνη πρόβατο μειώνεται".split(),
    "arabic": "الحديد ينخفض في الشتاء ١٢٫٥ الأغنام".split(),
    "hebrew": "ברזל יורד בחורף כבשים".split(),
    "devanagari": "लोहा सर्दियों में घटता है भेड़".split(),
    "thai": "ธาตุเหล็กลดลงในฤดูหนาวแกะ เหล็ก".split(),
    "chinese": "铁在冬天减少。 羊群，实验组；对照组！".split(),
    "japanese": "鉄は冬に減る。 フェリチンが「低下」した。".split(),
    "korean": "철분은 겨울에 감소한다. 양".split(),
    "khmer": "ជាតិដែកថយចុះ ចៀម".split(),
    "emoji": ["👩‍👩‍👧‍👦", "🐑", "👍🏽", "🇨🇭", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"],
    "combining": [
        "e\u0301\u0302\u0303",
        "a" + "\u0300" * 60,
        "o\u0308\u0332",
        "\u200d\u200d",
        "x\u20dd",
    ],
    "controls": [
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\u00ad",
        "\u2028",
        "\u2029",
        "\x0b",
        "\x1c",
        "\x85",
        "\u0000",
    ],
    "symbols": [
        "≤",
        "±",
        "∑",
        "→",
        "§",
        "†",
        "…",
        "—",
        "″",
        "½",
        "²",
        "µ",
        "Å",
        "ﬁ",
        "ﬀ",
        "№",
        "①",
        "Ⅳ",
        "𝒳",
        "𝟙",
    ],
    "markup": [
        "<b>",
        "</p>",
        "&amp;",
        "&#0;",
        "[1]",
        "|",
        "```",
        "$$",
        "---",
        "#",
        "* ",
        "1. ",
        "<td>",
        "\\",
        "::",
    ],
    "blanks": [" ", "  ", "\n", "\n\n", "\t", "\r\n", "\f", "\u00a0", "\u3000", "\u2003"],
}
_SCRIPTS = tuple(_WORDS)


def random_text(rng: random.Random, n_words: int) -> str:
    """About `n_words` words of one to four kinds; some of them very long, some without any space
    between them."""
    kinds = rng.sample(_SCRIPTS, rng.randint(1, 4))
    joint = rng.choice([" ", " ", " ", "", "\n", "-"])
    words = [_word(rng, kinds) for _ in range(n_words)]
    return "".join(
        word + (rng.choice([". ", "! ", "。", ".\n", "; "]) if rng.random() < 0.08 else joint)
        for word in words
    )


def _word(rng: random.Random, kinds: list[str]) -> str:
    roll = rng.random()
    if roll < 0.005:
        return rng.choice(_WORDS[rng.choice(kinds)]) * rng.randint(50, 2000)
    if roll < 0.01:
        return "".join(
            chr(rng.choice([rng.randint(0x21, 0xD7FF), rng.randint(0xE000, 0x10FFFF)]))
            for _ in range(8)
        )
    return rng.choice(_WORDS[rng.choice(kinds)])
