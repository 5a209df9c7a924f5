"""The words that say what a sentence is about, as stems."""

import re
from collections.abc import Iterable, Iterator, Set

from rag_assets.answering.agreement import wordings
from rag_assets.answering.extractive.words import stem_of

WORD = re.compile(r"(?:[^\W\d_]|\d+(?=-?[^\W\d_]))[^\W_]*(?:[-'’][^\W_]+)*")
AUXILIARIES = frozenset(
    "is was are were be been being has have had found to shown observed seen generally also significantly then not did "
    "does do rapidly greatly slightly markedly considerably strongly only more less much even".split()
)
EMPTY = frozenset(
    "a about above according across after all along also although always among an analysis and any are as at based "
    "be because been before being below between both but by can case cases certain compared comparison condition "
    "conditions conclude concluded confirmed considerably could data demonstrated did do does during each either "
    "especially estimate estimated even example experiment experimental experiments figure final finally find "
    "finding findings first for found from further furthermore general generally given had has have hence here "
    "however if importantly in increasingly indeed indicate indicated indicates indicating into investigation is it "
    "its itself large least level levels main many may mean measured might moreover most much near nearly not no "
    "now number obtained of on one only or other our out over paper particular participants particularly patients "
    "per point present previous rate rates reached recent regarding remained report reported respectively result "
    "results revealed same sample second see seen several should show showed shown shows similar similarly since so "
    "some specifically still studies study such suggest suggested suggesting suggests table taken test tested tests "
    "than that the their them then there therefore these they third this those three through thus to together too "
    "total toward two under until up upon use used using value values various very was we well were what when where "
    "whereas whether which while who whose will with within would yet you your additional additionally consistent "
    "line contrast conversely critically approximately around cause caused causes due resulted overall average "
    "averaged again another".split()
)
"""Words that say nothing of what a sentence is about."""


def content_terms(text: str) -> frozenset[str]:
    """Stems of the words that say what a text is about; a hyphenated word counts as itself and as its parts."""
    return frozenset(terms_of(match[0].lower() for match in WORD.finditer(text)))


def words_with(text: str, terms: Set[str]) -> list[str]:
    """The words of a text, as written and each once, that have one of the stems."""
    words = {match[0].lower(): match[0] for match in reversed(list(WORD.finditer(text)))}
    return [words[word] for word in reversed(words) if not terms.isdisjoint(terms_of([word]))]


def terms_of(words: Iterable[str]) -> Iterator[str]:
    """Stems of the content words among words in small letters."""
    for word in words:
        for part in (word, *(word.split("-") if "-" in word else ())):
            if is_content(part):
                yield stem_of(part)


def is_content(word: str) -> bool:
    """Whether a word in small letters names something; words of change, effect and grammar do not."""
    return (
        len(word) > 1
        and word not in EMPTY
        and word not in AUXILIARIES
        and not sign_of(word)
        and not wordings.EFFECT.fullmatch(word)
    )


def sign_of(word: str) -> int:
    """1 for a word in small letters that says more, -1 for one that says less, else 0."""
    return 1 if wordings.UP.fullmatch(word) else -1 if wordings.DOWN.fullmatch(word) else 0
