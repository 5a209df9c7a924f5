"""Whether the paper that is meant speaks of what a question asks: "melatonin", "blood pressure", "died".

A sentence may have most words of a question and yet be about something else. A content word of the question that stands
nowhere in what was found of the paper, in no form and in no word of like meaning, tells it. Two words are compared as
the packaged model reads them alone, which tells synonyms from words that merely occur together: "died" is like "deaths"
(0.8) and not like "infected" (0.1), while within their sentences both are alike. To read every word of a paper would
take long, so only those are read that their sentences make likely.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import TextTokens, TokenReader
from rag_assets.answering.extractive.candidates import Span
from rag_assets.answering.extractive.close_reading import Vectors, texts_of
from rag_assets.answering.extractive.words import QUESTION_WORDS, WORD, stem_of
from rag_assets.domain import Context

_LIKELY_WORDS = 12
_ALIKE_FROM = 0.45
"""The least cosine of two words that mean nearly the same."""
_LEAST_CHARS = 3
_COMMON_WORDS = frozenset(
    "able according achieve achieved across actually add added adopt adopted advance affect affected after again "
    "against ago aim aims all allow allowed almost alone along already also although always among amount another "
    "answer anybody anyone anything appear apply around ask asked aspect aspects author authors average away back "
    "bad base based became because become before began begin behind being belong below beneath besides best better "
    "beyond big both bring brought call called came cannot carried carry case catch catching cause causes certain "
    "change changed characteristic characteristics choose chose chosen claim close closely come comes compare "
    "compared conclusion conclusions conduct conducted consider contain could count cover deal decrease decreased "
    "define defined describe described detect detected determine determined develop developed differ difference "
    "different discuss distance done down due effect effects else end ended enough especially estimate estimated "
    "ever every everybody everyone everything exactly example explain explanation explanations fact factor factors "
    "far fast feature features few final find finding findings first follow followed form found fraction full "
    "further gave general get gets getting give given gives go goal goes going gone good got great had half happen "
    "happened happens hard having heavy help helped her here high higher hold how however identified identify "
    "impact implement implemented important include included including increase increased influence initial instead "
    "involve involved itself jump just keep keeps kept kind know known large last later least leave led left less "
    "let like likely little long longer look looked low lower made main mainly make makes making manage many mark "
    "marks matter mean meant measure measured meet mix mixed more mostly move moved much must name near need needed "
    "never new next no nobody none normal nothing now number observe observed obtain obtained occur offer offered "
    "offers often old once only order other others otherwise out over own part particular pass passed past people "
    "perform performed person pick place places play point possible present problem process provide publication "
    "publish published purpose put question quite rather reach real really reason reasons receive received "
    "recommend recommended refer regard regular relate remain require required requirement respectively result "
    "results role run said same saw say see seem seen serve set several share sharing show showed sign signed since "
    "small so some somebody someone something sort specific spot start started state stay step steps still stop "
    "such sudden suddenly suffer suggest suggested take taken takes taking talk thing think though through thus "
    "time together too took toward tried true try turn turned type unit until upon used useful using usually "
    "various very via way ways well went whether whole within without work worse worst yet".split()
)
"""Said in other words by every paper."""


def speaks_of(asked: str, contexts: Sequence[Context], reader: TokenReader) -> bool:
    """Whether what was found of a paper mentions every content word of a question, or something like it."""
    passages = [text for one in contexts for text in texts_of(one)]
    said = {stem_of(part) for text in (*(one.text for one in passages), *_titles(contexts)) for part in _parts(text)}
    places: dict[str, Span] = {}
    for word, span in _placed_parts(asked):
        if _is_telling(word) and stem_of(word) not in said:
            places.setdefault(word, span)
    missing = list(places)
    if not missing:
        return True
    (question,) = reader.of_texts([asked])
    tokens = dict(zip((one.text for one in passages), reader.of(passages), strict=True))
    in_question = np.array([_direction(question.vectors[_touching(question, *span)]) for span in places.values()])
    likely = _likely_words(in_question, tokens)
    read = sorted({*missing, *(word for words in likely for word in words)})
    alone = {word: _direction(one.vectors) for word, one in zip(read, reader.of_texts(read), strict=True)}
    return all(
        max((float(alone[word] @ alone[other]) for other in words), default=0.0) >= _ALIKE_FROM
        for word, words in zip(missing, likely, strict=True)
    )


def _titles(contexts: Sequence[Context]) -> list[str]:
    return [text for one in contexts for text in (one.section_title, one.paper_id.replace("_", " "))]


def _parts(text: str) -> list[str]:
    """The words in small letters, hyphenated ones in parts."""
    return [part for part, _ in _placed_parts(text)]


def _placed_parts(text: str) -> Iterator[tuple[str, Span]]:
    """Each with its place: `text[start:end]` in small letters."""
    for match in WORD.finditer(text):
        start = match.start()
        for part in match[0].split("-"):
            yield part.lower(), (start, start + len(part))
            start += len(part) + 1


def _is_telling(word: str) -> bool:
    return len(word) >= _LEAST_CHARS and word.isalpha() and word not in _COMMON_WORDS and word not in QUESTION_WORDS


def _touching(tokens: TextTokens, start: int, end: int) -> NDArray[np.bool_]:
    """Which tokens were made of `text[start:end]`."""
    touching: NDArray[np.bool_] = (tokens.spans[:, 0] < end) & (tokens.spans[:, 1] > start)
    return touching


def _likely_words(asked: Vectors, passages: Mapping[str, TextTokens]) -> list[list[str]]:
    """For each word of the question the words that come nearest to it within the passages."""
    best: dict[str, NDArray[np.float32]] = {}
    for text, tokens in passages.items():
        if not len(tokens.spans):
            continue
        cosines = asked @ tokens.vectors.T
        starts = tokens.spans[:, 0]
        for match in WORD.finditer(text):
            word = match[0].lower()
            first, last = np.searchsorted(starts, match.span())
            if first == last or word in QUESTION_WORDS:
                continue
            nearest = cosines[:, first:last].max(axis=1)
            best[word] = np.maximum(best[word], nearest) if word in best else nearest
    found = list(best)
    if not found:
        return [[] for _ in asked]
    order = np.argsort(-np.stack([best[word] for word in found], axis=1), axis=1, kind="stable")
    return [[found[at] for at in row[:_LIKELY_WORDS].tolist()] for row in order]


def _direction(vectors: Vectors) -> Vectors:
    """The mean of token vectors, unit length, shape (dimension,); zeros where there are none."""
    if not len(vectors):
        return np.zeros(vectors.shape[1], np.float32)
    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), np.float32)
