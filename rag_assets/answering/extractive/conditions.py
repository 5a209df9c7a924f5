"""Finds candidates that answer another question than the one asked: of February, not of January.

Words of a question are a condition if a candidate lacks them and says something else in their
place, and the papers tell both apart. No list of words says what is a month or a fish. Papers tell
apart what stands in one enumeration, list, column or row of headings. A name or number is also told
apart from one that changes places with it, or with a third, in sentences that are otherwise alike:
"in January" from "in February" where the papers have "in March", too. Common words have synonyms,
so their places tell too little.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from rag_assets.answering.drafts import TokenReader
from rag_assets.answering.extractive.candidates import Candidate, CandidateKind, title_of
from rag_assets.answering.extractive.relevance import ScoredPart
from rag_assets.answering.extractive.unmentioned import likeness
from rag_assets.answering.verify.quoted_text import QuotedText, tables_in
from rag_assets.core.domain import Context, UnitKind
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.terms import QUESTION_WORDS, has_term, stem_of, terms_of

_LEAST_HELD = 0.5
"""Share of the other words of a question that a candidate has which only lacks a condition."""
_LEAST_SHARED, _SHARE_OF_SHORTER, _SHARE_OF_LONGER = 2, 0.6, 0.5
"""Words that parallel sentences share, and the share they are of the words of each, but for the
phrases that change places."""
_MOST_WORDS_IN_LIST = 4
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+(?:[-/][^\W_]+)*")
_IN_ONE_PHRASE = re.compile(r"[^\w,;:.!?()|/]*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ARTICLES = frozenset({"a", "an", "the", "their", "its", "his", "her", "this", "that"})
_PREPOSITIONS = frozenset(
    "in of for on with by at from to among during under against between over after before".split()
)
_SMALL_WORDS = (
    QUESTION_WORDS | _PREPOSITIONS | set("we our us he she not no only also both".split())
)
_AUXILIARIES = frozenset("be been being is are was were has have had to".split())
_ASKING = frozenset({"how", "what", "which"})
"""The word behind one of these says what kind of thing is asked for."""
_JOINED = re.compile(r",|;|/|\b(?:and|or|nor|versus|vs|than)\b")
_CONJUNCTION = re.compile(r"(?:\W*\w+){0,3}?,?\s*\b(?:and|or|nor|versus|vs|than)\b")
_MOST_WORDS_OF_MEMBER = 3
_NUMBER = "#"
"""A number as a neighbour."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Content words that stand side by side in a text."""

    text: str
    words: frozenset[str]
    """Their stems."""
    left: str
    """Stem of the nearest content word before it; empty for none."""
    right: str
    before: str
    """The preposition before it; empty for none."""
    follows: bool = False
    """Whether the word on its left stands directly before it: "7" of "day 7"."""
    leads: bool = False
    """Whether the word on its right follows directly: "20 mg" of "the 20 mg group"."""
    is_behind_auxiliary: bool = False
    """Whether it follows a form of "be", "have" or "to": "shown" of "has been shown"."""

    @property
    def is_number(self) -> bool:
        """Whether it begins with a number, or is a letter: "group B"."""
        return self.text[0].isdigit() or (len(self.text) == 1 and self.text.isupper())

    @property
    def is_name(self) -> bool:
        """A number, or written as names are."""
        return self.is_number or not self.text.islower()

    @property
    def may_be_a_verb(self) -> bool:
        """Whether it stands where verbs do: "rose" of "antibodies rose in women"."""
        is_behind = self.follows or self.is_behind_auxiliary
        return is_behind and not self.leads and self.text[0].islower()

    def shares_neighbour(self, other: "Phrase", *, or_number: bool = False) -> bool:
        """Whether the same word is beside both; directly beside numbers."""
        says_nothing = {""} if or_number else {"", _NUMBER}
        is_close = self.is_number or other.is_number
        on_left = self.left not in says_nothing and self.left == other.left
        on_right = self.right not in says_nothing and self.right == other.right
        if is_close:
            on_left = on_left and self.follows and other.follows
            on_right = on_right and self.leads and other.leads
        return on_left or on_right

    def may_stand_for(self, other: "Phrase") -> bool:
        """Whether a phrase of a question and one of a sentence are in one place."""
        is_one_kind = self.is_number == other.is_number
        return self.shares_neighbour(other) or (
            is_one_kind and not self.is_number and self.before != "" and other.before != ""
        )

    def takes_turns_with(self, other: "Phrase") -> bool:
        """Whether phrases of two parallel sentences are in one place."""
        is_one_kind = self.is_number == other.is_number
        return self.shares_neighbour(other, or_number=True) or (
            is_one_kind and self.before != "" and self.before == other.before
        )


def phrases_in(
    text: str,
    known: Set[str],
    *,
    is_question: bool = False,
) -> list[Phrase]:
    """The longest phrases without a known word, in order. A number begins a phrase, and names are
    phrases of their own."""
    tokens = list(_TOKEN.finditer(text))
    stems = [_stem(token) for token in tokens]
    runs: list[list[int]] = []
    for at, stem in enumerate(stems):
        is_kind = is_question and at > 0 and tokens[at - 1][0].casefold() in _ASKING
        if not stem or is_kind or _YEAR.fullmatch(stem) or _is_known(stem, known):
            continue
        goes_on = (
            runs
            and runs[-1][-1] == at - 1
            and not stem[0].isdigit()
            and tokens[at][0][0].isupper() == tokens[at - 1][0][0].isupper()
            and _are_joined(text, tokens[at - 1], tokens[at])
        )
        if goes_on:
            runs[-1].append(at)
        else:
            runs.append([at])
    phrases = (_phrase(text, tokens, stems, run[0], run[-1] + 1) for run in runs)
    return [it for it in phrases if it.is_name or max(map(len, it.words)) > 1]


def _are_joined(text: str, one: re.Match[str], following: re.Match[str]) -> bool:
    return _IN_ONE_PHRASE.fullmatch(text, one.end(), following.start()) is not None


def _phrase(
    text: str, tokens: list[re.Match[str]], stems: list[str], first: int, end: int
) -> Phrase:
    outside = [token[0].casefold() for token in tokens[max(0, first - 2) : first]]
    outside = [word for word in outside if word not in _ARTICLES]
    return Phrase(
        text[tokens[first].start() : tokens[end - 1].end()],
        frozenset(stems[first:end]),
        next((_number_or(stem) for stem in reversed(stems[:first]) if stem), ""),
        next((_number_or(stem) for stem in stems[end:] if stem), ""),
        outside[-1] if outside and outside[-1] in _PREPOSITIONS else "",
        first > 0 and stems[first - 1] != "" and _are_joined(text, *tokens[first - 1 : first + 1]),
        end < len(stems) and stems[end] != "" and _are_joined(text, *tokens[end - 1 : end + 1]),
        first > 0 and tokens[first - 1][0].casefold() in _AUXILIARIES,
    )


@lru_cache(maxsize=2**12)
def stems_in(text: str) -> frozenset[str]:
    """All stems that `phrases_in` may know."""
    return terms_of(text) | {_stem(token) for token in _TOKEN.finditer(text)} - {""}


def _stem(token: re.Match[str]) -> str:
    """Empty for words that say nothing; "A" names something within a sentence."""
    word = token[0].casefold()
    is_letter = token[0] == "A" and token.start() > 0
    return "" if word in _SMALL_WORDS and not is_letter else stem_of(word)


def _is_known(stem: str, known: Set[str]) -> bool:
    parts = re.split("[-/]", stem)
    return has_term(known, stem) if len(parts) == 1 else stem in known or set(parts) <= known


def _number_or(stem: str) -> str:
    return _NUMBER if stem[0].isdigit() else stem


def are_enumerated(text: str, one: Phrase, other: Phrase) -> bool:
    """Whether phrases of a text are members of one enumeration: short, with nothing but short
    members between them, and a conjunction before the last."""
    (start, end), (its_start, its_end) = (_place_of(text, it.words) for it in (one, other))
    between, behind = (
        (text[end:its_start], its_end) if start < its_start else (text[its_end:start], end)
    )
    members = _JOINED.split(between)
    is_short = all(len(_TOKEN.findall(it)) <= _MOST_WORDS_OF_MEMBER for it in members)
    has_conjunction = _CONJUNCTION.search(between) or _CONJUNCTION.match(text, behind)
    return len(members) > 1 and is_short and has_conjunction is not None


def _place_of(text: str, words: Set[str]) -> tuple[int, int]:
    own = [token for token in _TOKEN.finditer(text) if _stem(token) in words]
    return (own[0].start(), own[min(len(words), len(own)) - 1].end()) if own else (0, 0)


@dataclass(frozen=True, slots=True)
class OtherCondition:
    """What is asked for, and what a candidate says in its place."""

    asked: Phrase
    other: Phrase


@dataclass(frozen=True)
class Conditions:
    """The conditions of one part of a question, compared with what was found for it."""

    question: str
    contexts: Sequence[Context]
    reader: TokenReader
    _likenesses: dict[tuple[str, str], float] = field(default_factory=dict)

    def unmet(
        self, part: ScoredPart, candidates: Sequence[Candidate], floor: float
    ) -> dict[int, OtherCondition | None]:
        """The candidates that would answer, but are of another condition, or do not have one that
        the best candidate shows to be one: the condition, where the candidate says another."""
        order = (-part.relevance).argsort(kind="stable").tolist()
        enough = [nth for nth in order if part.relevance[nth] >= floor]
        others = {nth: self._other(candidates[nth]) for nth in enough}
        unmet: dict[int, OtherCondition | None] = {nth: it for nth, it in others.items() if it}
        for nth in enough:
            if nth not in unmet:
                break
            if other := others[nth]:
                lacking = (it for it in enough if not self._holds(candidates[it], other.asked))
                unmet |= {it: others[it] for it in lacking}
        return unmet

    def _other(self, one: Candidate) -> OtherCondition | None:
        context = self.contexts[one.context]
        own = _own_text(one, context)
        known = stems_in(own)
        missing = phrases_in(self.question, known, is_question=True)
        around = known | stems_in(self._around(one)) if missing else known
        missing = [it for it in missing if self._share_held(around, it) >= _LEAST_HELD]
        if not missing:
            return None
        if one.kind is CandidateKind.ROW:
            return self._other_row(one, missing)
        for said in phrases_in(own, self._asked):
            for asked in missing:
                if self._are_told_apart(one, asked, said):
                    return OtherCondition(asked, said)
        for place in (title_of(context.section_at(one.start)), context.paper.title):
            words = stems_in(place)
            for asked in phrases_in(self.question, known | words, is_question=True):
                for said in phrases_in(place, self._asked):
                    if asked.shares_neighbour(said) and self._are_siblings(asked, said):
                        return OtherCondition(asked, said)
        return None

    def _other_row(self, one: Candidate, missing: Sequence[Phrase]) -> OtherCondition | None:
        quoted = QuotedText(self.contexts[one.context].text, one.start, one.end)
        for _, cell in (cell for some in quoted.rows for cell in some.cells):
            said = Phrase(cell.text, terms_of(cell.text), "", "", "")
            for asked in () if cell.is_value or said.words <= self._asked else missing:
                if self._are_siblings(asked, said):
                    return OtherCondition(asked, said)
        return None

    def _share_held(self, known: Set[str], asked: Phrase) -> float:
        others = [
            word
            for phrase in phrases_in(self.question, frozenset(), is_question=True)
            for word in phrase.words - asked.words
        ]
        return sum(has_term(known, word) for word in others) / max(1, len(others))

    def _are_told_apart(self, one: Candidate, asked: Phrase, said: Phrase) -> bool:
        are_names = asked.is_name and said.is_name
        if not (asked.may_stand_for(said) if are_names else asked.shares_neighbour(said)):
            return False
        if self._are_siblings(asked, said):
            return True
        others = self._in_place_of(said, one) if are_names else ()
        return self._are_of_one_kind(asked, said) and any(
            asked.words <= its.words or its.words.isdisjoint(self._asked) for its in others
        )

    def _are_siblings(self, one: Phrase, other: Phrase) -> bool:
        """Whether the papers enumerate the phrases together."""
        for members in self._enumerations:
            has_one = any(one.words <= its for its in members)
            if has_one and any(other.words <= its and not one.words <= its for its in members):
                return True
        for text in self._with(one.words):
            if other.words <= stems_in(text):
                is_list = not one.may_be_a_verb and are_enumerated(text, one, other)
                if is_list and self._differ(one, other):
                    return True
        return False

    def _in_place_of(self, said: Phrase, one: Candidate) -> Iterator[Phrase]:
        """What stands in the place of a phrase in sentences of the paper that are otherwise like
        the candidate."""
        own = _words(one.text)
        for text in self._texts.get(one.paper_id, ()):
            its = _words(text)
            if text == one.text:
                continue
            for mine in phrases_in(one.text, stems_in(text)):
                for other in (
                    phrases_in(text, stems_in(one.text)) if mine.words & said.words else ()
                ):
                    if mine.takes_turns_with(other) and _are_parallel(
                        len(own & its), len(own - mine.words), len(its - other.words)
                    ):
                        yield other

    def _are_of_one_kind(self, one: Phrase, other: Phrase) -> bool:
        if one.is_number or other.is_number:
            return one.is_number and other.is_number
        return self._likeness(one.text.lower(), other.text.lower()) >= self.reader.scale.kin_from

    def _likeness(self, one: str, other: str) -> float:
        if (one, other) not in self._likenesses:
            self._likenesses[one, other] = likeness(one, other, self.reader)
        return self._likenesses[one, other]

    def _differ(self, one: Phrase, other: Phrase) -> bool:
        """Whether phrases of one kind are no two words for one thing, as far as that can be told;
        names are not."""
        is_name = not (one.text.islower() and other.text.islower())
        return (
            is_name
            or self._likeness(one.text.lower(), other.text.lower()) < self.reader.scale.same_from
        )

    def _with(self, words: Set[str]) -> Iterator[str]:
        return (text for texts in self._texts.values() for text in texts if words <= stems_in(text))

    def _holds(self, one: Candidate, asked: Phrase) -> bool:
        known = stems_in(_own_text(one, self.contexts[one.context])) | stems_in(self._around(one))
        return all(has_term(known, word) for word in asked.words)

    def _around(self, one: Candidate) -> str:
        """What a candidate is said under: its paragraph, section, table, and paper."""
        context = self.contexts[one.context]
        before = context.text[context.text.rfind("\n", 0, one.start) + 1 : one.start]
        frame = QuotedText(context.text, one.start, one.end, title=context.paper.title).frame
        return " ".join((before, context.section_at(one.start), one.paper_id, *frame))

    @cached_property
    def _asked(self) -> frozenset[str]:
        return stems_in(self.question)

    @cached_property
    def _texts(self) -> Mapping[str, Sequence[str]]:
        """The sentences and items of each paper."""
        found: dict[str, dict[str, None]] = {}
        for context in self.contexts:
            own = found.setdefault(context.paper_id, {})
            for line in re.finditer(r"[^\n]+", context.text):
                own |= {line[0][start:end]: None for start, end in sentence_spans(line[0])}
        return {paper: list(texts) for paper, texts in found.items()}

    @cached_property
    def _enumerations(self) -> list[list[frozenset[str]]]:
        """The members of each list, column of names, and row of headings below one heading."""
        found: list[set[str]] = []
        headings: dict[tuple[str, str], set[str]] = {}
        for context in self.contexts:
            groups: dict[tuple[str, int], set[str]] = {}
            for unit in context.units:
                if unit.kind is UnitKind.ITEM:
                    item = context.text[unit.start : unit.end].lstrip(" -*+•▪◦‣–")
                    groups.setdefault(("", unit.block), set()).add(re.split("[:(]", item)[0])
            for nth, table in enumerate(tables_in(context.text)):
                for cell in (cell for row in table.rows for cell in row.cells):
                    if not cell.is_value:
                        groups.setdefault((cell.column, nth), set()).add(cell.text)
            for path in (context.section_title, *(path for _, path in context.sections)):
                parent, _, title = path.rpartition(" > ")
                headings.setdefault((context.paper_id, parent), set()).add(title)
            found += groups.values()
        members = (
            [stems_in(it) for it in its if len(it.split()) <= _MOST_WORDS_IN_LIST]
            for its in (*found, *headings.values())
        )
        return [its for its in members if len(its) > 1]


def _are_parallel(n_shared: int, n_words: int, n_other_words: int) -> bool:
    shorter, longer = sorted((n_words, n_other_words))
    is_enough = n_shared >= max(_LEAST_SHARED, _SHARE_OF_SHORTER * shorter)
    return is_enough and n_shared > _SHARE_OF_LONGER * longer


def _own_text(one: Candidate, context: Context) -> str:
    """The text that is published, with the question that it answers."""
    if one.kind is CandidateKind.ROW:
        return one.quote
    return f"{context.text[slice(*one.shown)]} {one.lead if one.lead.endswith('?') else ''}"


def _words(text: str) -> frozenset[str]:
    return frozenset(term for term in terms_of(text) if not term[0].isdigit())
