"""Where a quote may begin and end, and how much of its sentence is published with it."""

import pytest

from rag_assets.answering.verify.quote_search import find_quote


def published(quote: str, text: str) -> list[str]:
    return [text[place.start : place.end] for place in find_quote(quote, text)]


def test_a_quote_has_fifteen_characters_at_least() -> None:
    """A shorter one stands in any paper of the subject, and proves nothing of the claim it is put
    behind."""
    assert published("Rats lived well", "Rats lived well.") == ["Rats lived well"]
    assert published("Rats lived ill", "Rats lived ill.") == []


@pytest.mark.parametrize(
    "quote",
    [
        "Live colonies in percent The linear model of all rivers held",
        "The linear model of all rivers held",
        "Live colonies in percent ¦ The linear model of all rivers held.",
    ],
)
def test_a_sentence_that_may_be_two_is_not_published(quote: str) -> None:
    """Where two columns ran into one, nobody wrote what stands there."""
    text = "Live colonies in percent ¦ The linear model of all rivers held."

    assert published(quote, text) == []
    assert published(quote, f"{text} It was so.") == []
    assert published("The linear model of all rivers held", text.replace("¦", "while"))


@pytest.mark.parametrize(
    "before",
    [
        *(
            "1 ",
            "1\u2009",
            "1\u00a0",
            "1\u202f",
            "1'",
            "1’",
            "1,",
            "1.",
            "1/",
            "3 / ",
            "1:",
            "10^",
            "10^-",
            "1e",
            "1e-",
        ),
        *("2 × ", "2x", "2*", "±", "± ", "< ", "≥ ", "~", "≠ ", "¬", "√", "5–", "5 – "),
        *(f"was {dash}" for dash in "⁻‐‑‒–—―−─➖﹘﹣－-"),
        *("was − ", "was −\u200b", "was ."),
        "IL-",
    ],
)
def test_a_quote_does_not_begin_inside_a_number(before: str) -> None:
    """Of "1 500 patients" it would publish 500, of "−5" a rise."""
    quote = "500 patients died in the course of the trial"

    assert published(quote, f"In all {before}{quote}.") == []
    assert published(quote, f"In all {quote}.") == [quote]


@pytest.mark.parametrize(
    "after",
    [
        *(
            "0",
            ".5",
            ",5",
            "·5",
            " 000",
            "\u2009000",
            "\u202f000",
            "'000",
            "’000",
            "e3",
            "½",
            "⅔",
            "⁵",
            "/7",
            " / 7",
        ),
        *(
            ":7",
            "^3",
            " × 10^3",
            "×10",
            " x 3",
            "–7",
            " – 7",
            "-7",
            "%",
            " %",
            "‰",
            "°",
            " per cent",
            " percent",
        ),
        *(" hundred", " thousand", " million", " billion", " dozen", " fold", "-fold", "mg"),
    ],
)
def test_a_quote_does_not_end_inside_a_number(after: str) -> None:
    """ "The budget was $5" is what it leaves of "$5 million"."""
    quote = "the budget of the whole project was $5"

    assert published(quote, f"In all {quote}{after} in the year.") == []
    assert published(f"{quote} ", f"In all {quote}{after} in the year.") == []
    assert published(quote, f"In all {quote} in the year.") == [quote]


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("All of the samples were HIV", "All of the samples were HIV-negative."),
        ("All of the patients were opioid", "All of the patients were opioid–naïve at one year."),
        ("All of the tumours were T3", "All of the tumours were T3-negative."),
        ("All of the cells were drug", "All of the cells were drug-\ninsensitive."),
        ("All of the cells were CD4", "All of the cells were CD4+ in the end."),
        ("All of the cells were CD4", "All of the cells were CD4− in the end."),
        ("insensitive cells were found in all", "Many drug-insensitive cells were found in all."),
        ("insensitive cells were found in all", "Many drug-\ninsensitive cells were found in all."),
        (
            "significant effects were found in all",
            "Only non- significant effects were found in all.",
        ),
        ("All of the effects were non", "All of the effects were non- significant."),
        ("All of the effects were typ", "All of the effects were typ\u200bical."),
        ("All of the cells were nai", "All of the cells were nai\u0308ve."),
        ("the drug showed an effect [4]", "In short the drug showed an effect [5]."),
        ("the drug showed an effect. [4]", "In short the drug showed an effect. [5]"),
        ("the drug showed an effect [4]", "In short the drug showed an effect on nothing but [4]."),
        ("> 18 years of age in both arms", "Of these, 18 years of age in both arms."),
    ],
)
def test_a_quote_parts_no_compound_and_keeps_a_mark_that_changes_it(quote: str, text: str) -> None:
    """ "HIV-negative" and "HIV" are opposites; another reference, the middle of a sentence, and
    "more than" are not added by habit."""
    assert published(quote, text) == []


def test_a_dash_between_clauses_is_no_compound() -> None:
    """Some papers set dashes without blanks."""
    text = "Of the drugs—which had been given for weeks—none helped."

    assert published("which had been given for weeks", text) != []


def test_a_sign_between_bars_makes_no_table_of_prose() -> None:
    """The line before may deny what the next one says."""
    text = "Nothing is new. We do not believe\nthat P(a | b) rises in all of the groups."

    assert published("that P(a | b) rises in all of the groups", text) == [
        text.removeprefix("Nothing is new. ")
    ]


@pytest.mark.parametrize("caption", ["", "Deaths of men, none of whom were young\n"])
def test_a_row_of_a_table_is_published_without_the_others(caption: str) -> None:
    """What another row, or the caption, denies does not turn the one quoted."""
    text = f"{caption}Group of men without drug | 12 | 13\nGroup of men with drug | 14 | 15"

    assert published("Group of men with drug | 14", text) == ["Group of men with drug | 14"]


@pytest.mark.parametrize(
    "sentence",
    [
        *(
            "We DON'T think {}.",
            "It isn′t so that {}.",
            "It isn`t so that {}.",
            "We don´t know that {}.",
        ),
        *("Did they find that {}?", "They asked “was it that {}?”"),
        *(
            "We hypothesised that {}.",
            "Our hypotheses were that {}.",
            "We doubt {}.",
            "Wrongly, {}.",
            "Falsely, {}.",
        ),
        *(
            "They claim that {}.",
            "Some argue that {}.",
            "Many believed that {}.",
            "It is said that {}.",
        ),
        *(
            "It is untrue that {}.",
            "It was debunked that {}.",
            "A misconception is that {}.",
            "They deny that {}.",
        ),
        *("Reportedly, {}.", "Purportedly, {}.", "Theoretically, {}.", "Hypothetically, {}."),
        *(
            "They falsified data so {}.",
            "Here {}; the paper was retracted.",
            "Here {}; this vanished.",
        ),
        *(
            "Here {}, insignificantly.",
            "Here {} (insignificant).",
            "Here {} (non-significant).",
            "{}, nonsignificantly.",
        ),
    ],
)
def test_a_quote_is_published_with_what_turns_its_sentence(sentence: str) -> None:
    """Without it, what was asked, doubted or denied is stated."""
    quote = "the drug showed an effect on mortality"
    whole = sentence.format(quote)

    assert published(quote, f"{whole}\n\nOther drugs had been tested before.") == [whole]


@pytest.mark.parametrize(
    "sentence",
    [
        # one subject, one verb or one list
        *(
            "The drug may lower pain, but {raise the mortality of men}.",
            "It did not change iron, and {zinc in the men}.",
        ),
        *("It had no effect on the pain of men; {the sleep of all women}; or the mood.",),
        *(
            "Although we saw no iron, {the zinc of the men}, or copper, pain fell.",
            "No iron, {the zinc of the men}, was seen.",
        ),
        # a clause that is denied or doubted as a whole
        *(
            "It is not clear that pain fell, but {the mortality of men rose}.",
            "We do not know if it fell, but {the men died of it}.",
        ),
        *(
            "They deny that pain fell; {the mortality of men rose}.",
            "If pain fell, but {the mortality of men rose}, it did.",
        ),
        # what goes on about the words quoted
        *(
            "{The mortality of men rose}, but this did not last.",
            "{The mortality of men rose}, but not in women.",
        ),
        *(
            "{The mortality of men rose}, but the effect did not last.",
            "{The mortality of men rose}, although not much.",
        ),
        *(
            "{The mortality of men rose}, and may rise again.",
            "{The mortality of men rose}; no trial saw it.",
        ),
        "{The mortality of men rose}, but many trials did not see it.",
        "{The mortality of men rose}; others deny all harm in men.",
        # clauses within others
        "It did not differ (t = 2; the mean was 3) {from the mean of the controls}.",
        "It did not last, although it was a trend, {when the drug was given to men}.",
        # another clause, which is not told apart
        *(
            "Zinc did not help, but {the mortality of men rose}.",
            "{The mortality of men rose}; zinc may not do so.",
        ),
    ],
)
def test_in_doubt_a_denial_is_published_with_the_quote(sentence: str) -> None:
    """Without it, the source would say what it denies."""
    quote = sentence[sentence.index("{") + 1 : sentence.index("}")]
    whole = sentence.replace("{", "").replace("}", "")

    assert published(quote, f"{whole} Others rose.") == [whole]


@pytest.mark.parametrize(
    ("quote", "parts"),
    [
        (
            "Ferritin fell in all … Zinc rose in all of them.",
            ["Ferritin fell in all", "Zinc rose in all of them."],
        ),
        (
            "the drug helped in men … Zinc rose in all of them.",
            ["We do not think that the drug helped in men at all.", "Zinc rose in all of them."],
        ),
        (
            "Ferritin fell in all … the pain of all women rose",
            ["Ferritin fell in all", "With time, the pain of all women rose"],
        ),
        (
            "Ferritin fell in all … Zinc rose in all … the pain of all women rose",
            ["Ferritin fell in all", "Zinc rose in all", "With time, the pain of all women rose"],
        ),
        ("Ferritin fell in all … the pain of the men fell", []),
        ("Ferritin fell in all … of all women rose", []),
        ("Ferritin fell in all … Zinc rose", []),
        ("Zinc rose in all of them. … Ferritin fell in all", []),
    ],
)
def test_an_ellipsis_over_sentences_parts_two_quotes(quote: str, parts: list[str]) -> None:
    """Refused, a claim over two true sentences is lost; each of them is published as it would be by
    itself."""
    text = (
        "Ferritin fell in all groups. We do not think that the drug helped in men at all. Zinc rose in all of them. "
        "With time, the pain of all women rose much. Nothing eased the pain of the men fell short of it."
    )

    assert published(quote, text) == parts


@pytest.mark.parametrize(
    "line",
    ["JOURNAL OF IRON 12", "DOI: 10.1234/iron.9", "12", "© 2014 Iron Society.\n\nLund et al."],
)
@pytest.mark.parametrize("breaks", ["\n\n", "\n"])
def test_a_line_in_the_middle_of_a_sentence_may_be_left_out(line: str, breaks: str) -> None:
    """A header or footer that the extraction kept would cost each sentence that goes over a
    page."""
    text = f"All were seen. Pain fell in most of the{breaks}{line}{breaks}patients, who were then treated. Others rose."
    place = text[text.index("Pain") : text.index(", who")]

    assert published("Pain fell in most of the patients", text) == [place]
    assert published("“Pain fell in most of all patients.”", text) == []
    assert published("in most of patients, who were then treated", text) == [
        text[text.index("in most") : text.index(". Others")]
    ]
    assert published("All were seen. Pain fell in", text) == ["All were seen. Pain fell in"]


def test_a_quote_behind_several_lines_is_published_where_it_stands() -> None:
    """Each line that is left out moves what stands behind it."""
    text = "It fell in\n\nIRON 1\n\nmen and in the\n\nIRON 2\n\nwomen, and rose in the\n\nIRON 3\n\nchildren. It is so."

    assert published("men and in the women, and rose in the children", text) == [
        text[text.index("men") : text.index(". It")]
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Pain fell in most.\n\nJOURNAL OF IRON\n\nof the patients.",
        "Pain fell in most\n\nJOURNAL OF IRON\n\nOf the patients.",
        "Pain fell in most\n\niron was given\n\nof the patients.",
        "Pain fell in most\n\nNOT SEEN AGAIN\n\nof the patients.",
        "Pain fell in most\n\nIron | 12\n\nof the patients.",
        f"Pain fell in most\n\n{'The iron was given daily to the men. ' * 5}\n\nof the patients.",
        "Pain fell in most\n\nIRON\n\nIRON\n\nIRON\n\nof the patients.",
    ],
)
def test_two_pieces_of_text_are_not_joined_over_a_line(text: str) -> None:
    """An item, a paragraph or a row of another matter would be quoted as one sentence."""
    assert published("Pain fell in most of the patients", text) == []


def test_what_is_published_begins_at_a_sentence() -> None:
    """ "21) = 3.45, p = .03, it did not fall" is no sentence of the source."""
    whole = "With age, F(1, 21) = 3.45, p = .03, and with sex, F(2, 38) = 0.18, ps > .05, it did not fall in the groups."

    assert published("it did not fall in the groups", f"All were tested. {whole} Others rose.") == [
        "it did not fall in the groups"
    ]
    assert published("fall in the groups.", f"All were tested. {whole} Others rose.") == [whole]


@pytest.mark.parametrize(("n_clauses", "is_published"), [(22, True), (26, False)])
def test_a_quote_brings_a_long_sentence_along_but_no_page(
    n_clauses: int, is_published: bool
) -> None:
    """Long sentences are common in papers; a quote that grows to a page can be read to say
    anything."""
    turned = (
        "It is not true, said "
        + "one author after another, " * n_clauses
        + "that zinc cures the common cold."
    )
    parted = (
        "Ferritin fell in all groups "
        + "of runners, of rowers and " * n_clauses
        + "of riders within a month."
    )

    assert published("zinc cures the common cold", turned) == ([turned] if is_published else [])
    assert published("Ferritin fell in all groups ... of riders within a month.", parted) == (
        [parted] if is_published else []
    )


@pytest.mark.parametrize("quoted", ["{} [4]", "{}.[4, 5]", "“{}.” [4].", "> {}.", "> > {}"])
def test_the_marks_of_the_one_who_quotes_are_no_part_of_the_quote(quoted: str) -> None:
    """Models number their references and set quotes as Markdown does."""
    quote = "the drug showed an effect on mortality"

    assert published(quoted.format(quote), f"In short {quote}. Others did too.") in (
        [quote],
        [f"{quote}."],
    )


def test_a_short_quote_is_evidence_only_where_it_is_the_whole_chunk() -> None:
    """The line of an author may be a chunk of its own; elsewhere a few letters are found
    anywhere."""
    assert [place.end for place in find_quote("Ben Mistel", "Ben Mistel")] == [10]
    assert find_quote("Ben Mistel", "Ben Mistel went home.") == []
