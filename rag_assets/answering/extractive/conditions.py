"""Finds candidates that answer another question than the one asked: about February, not January.

Words of a question are a condition if a candidate does not have them but has other words in their
place, and the papers show that the two mean different things. No list of months or fishes is needed
for this. Two phrases differ if the papers have both in one enumeration, list, table column or row
of headings. Two names or numbers also differ if one replaces the other in sentences that are
otherwise alike; or if a third does: "in January" differs from "in February" if the papers have such
sentences with "in March". For common words this is not enough, because they have synonyms.
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
from rag_assets.core.domain import Context, StatementKind
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.terms import QUESTION_WORDS, has_term, stem_of, terms_of

_LEAST_HELD = 0.5
"""Words that a candidate lacks can be a condition only if it has this share of the question's other
words."""
_LEAST_SHARED, _SHARE_OF_SHORTER, _SHARE_OF_LONGER = 2, 0.6, 0.5
"""Parallel sentences share so many words, and these shares of the words of the shorter and of the
longer one. The phrases that replace each other are not counted."""
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
"""The word after one of these is the kind of thing that is asked for: "which month"."""
_JOINED = re.compile(r",|;|/|\b(?:and|or|nor|versus|vs|than)\b")
_CONJUNCTION = re.compile(r"(?:\W*\w+){0,3}?,?\s*\b(?:and|or|nor|versus|vs|than)\b")
_MOST_WORDS_OF_MEMBER = 3
_NUMBER = "#"
"""Stands for any number in `Phrase.left` and `Phrase.right`."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Consecutive content words of a text, with the words around them."""

    text: str
    words: frozenset[str]
    """Their stems."""
    left: str
    """Stem of the nearest content word before it; empty for none."""
    right: str
    """Stem of the nearest content word after it; empty for none."""
    before: str
    """The preposition before it; empty for none."""
    touches_left: bool = False
    """Whether the left content word is directly before it: "7" of "day 7"."""
    touches_right: bool = False
    """Whether the right content word is directly after it: "20 mg" of "the 20 mg group"."""
    is_behind_auxiliary: bool = False
    """Whether it follows a form of "be", "have" or "to": "shown" of "has been shown"."""

    @property
    def is_number(self) -> bool:
        """Whether it begins with a number, or is a letter: "group B"."""
        return self.text[0].isdigit() or (len(self.text) == 1 and self.text.isupper())

    @property
    def is_name(self) -> bool:
        """Whether it is a number or has a capital."""
        return self.is_number or not self.text.islower()

    @property
    def may_be_a_verb(self) -> bool:
        """Whether it has the position of a verb: "rose" of "antibodies rose in women"."""
        follows_word = self.touches_left or self.is_behind_auxiliary
        return follows_word and not self.touches_right and self.text[0].islower()

    def shares_neighbour(self, other: "Phrase", *, or_number: bool = False) -> bool:
        """Whether both phrases have the same content word on the left, or on the right: "day 7" and
        "day 14". If one of them is a number, this word must be directly beside both.

        or_number: whether numbers count as such words.
        """
        not_counted = {""} if or_number else {"", _NUMBER}
        on_left = self.left not in not_counted and self.left == other.left
        on_right = self.right not in not_counted and self.right == other.right
        if self.is_number or other.is_number:
            on_left = on_left and self.touches_left and other.touches_left
            on_right = on_right and self.touches_right and other.touches_right
        return on_left or on_right

    def may_stand_for(self, other: "Phrase") -> bool:
        """Whether a phrase of a question and one of a candidate have the same role in their
        sentences: they share a neighbour, or both are no numbers and follow a preposition."""
        is_one_kind = self.is_number == other.is_number
        return self.shares_neighbour(other) or (
            is_one_kind and not self.is_number and self.before != "" and other.before != ""
        )

    def replaces(self, other: "Phrase") -> bool:
        """Whether phrases of two parallel sentences have the same role: they share a neighbour, or
        follow the same preposition and are both numbers or both not."""
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
    """The longest phrases of a text that have no known word, in order. Years are left out.

    A number always begins a new phrase, and words with a capital are not in one phrase with others.
    known: stems, as `stems_in` returns them. is_question: leave out the word after "which".
    """
    tokens = list(_TOKEN.finditer(text))
    stems = [_stem(token) for token in tokens]
    runs: list[list[int]] = []
    for i, stem in enumerate(stems):
        is_kind = is_question and i > 0 and tokens[i - 1][0].casefold() in _ASKING
        if not stem or is_kind or _YEAR.fullmatch(stem) or _is_known(stem, known):
            continue
        continues_phrase = (
            runs
            and runs[-1][-1] == i - 1
            and not stem[0].isdigit()
            and tokens[i][0][0].isupper() == tokens[i - 1][0][0].isupper()
            and _are_joined(text, tokens[i - 1], tokens[i])
        )
        if continues_phrase:
            runs[-1].append(i)
        else:
            runs.append([i])
    phrases = (_phrase(text, tokens, stems, run[0], run[-1] + 1) for run in runs)
    # A single small letter is no phrase.
    return [it for it in phrases if it.is_name or max(map(len, it.words)) > 1]


def _are_joined(text: str, token: re.Match[str], following: re.Match[str]) -> bool:
    """Whether no punctuation separates two tokens."""
    return _IN_ONE_PHRASE.fullmatch(text, token.end(), following.start()) is not None


def _phrase(
    text: str, tokens: list[re.Match[str]], stems: list[str], first: int, end: int
) -> Phrase:
    """The phrase of `tokens[first:end]`. stems: one for each token, empty for small words."""
    # An article may be between the preposition and the phrase: "in the winter".
    preceding = [token[0].casefold() for token in tokens[max(0, first - 2) : first]]
    preceding = [word for word in preceding if word not in _ARTICLES]
    return Phrase(
        text=text[tokens[first].start() : tokens[end - 1].end()],
        words=frozenset(stems[first:end]),
        left=next((_number_or(stem) for stem in reversed(stems[:first]) if stem), ""),
        right=next((_number_or(stem) for stem in stems[end:] if stem), ""),
        before=preceding[-1] if preceding and preceding[-1] in _PREPOSITIONS else "",
        touches_left=first > 0
        and stems[first - 1] != ""
        and _are_joined(text, tokens[first - 1], tokens[first]),
        touches_right=end < len(stems)
        and stems[end] != ""
        and _are_joined(text, tokens[end - 1], tokens[end]),
        is_behind_auxiliary=first > 0 and tokens[first - 1][0].casefold() in _AUXILIARIES,
    )


@lru_cache(maxsize=2**12)
def stems_in(text: str) -> frozenset[str]:
    """All stems of a text, in the form that the parameter `known` of `phrases_in` needs."""
    return terms_of(text) | {_stem(token) for token in _TOKEN.finditer(text)} - {""}


def _stem(token: re.Match[str]) -> str:
    """The stem of a token; empty for small words. "A" within a sentence is no small word, because
    it is a name: "group A"."""
    word = token[0].casefold()
    is_letter = token[0] == "A" and token.start() > 0
    return "" if word in _SMALL_WORDS and not is_letter else stem_of(word)


def _is_known(stem: str, known: Set[str]) -> bool:
    """Whether a stem, or each part of a hyphenated one, is known."""
    parts = re.split("[-/]", stem)
    return has_term(known, stem) if len(parts) == 1 else stem in known or set(parts) <= known


def _number_or(stem: str) -> str:
    """`_NUMBER` for a number, else the stem."""
    return _NUMBER if stem[0].isdigit() else stem


def are_enumerated(text: str, one: Phrase, other: Phrase) -> bool:
    """Whether two phrases of a text are members of one enumeration: "in March, April and May".

    Between them there are only commas, conjunctions and other short members, and a conjunction is
    between them or soon follows.
    """
    first, second = sorted((_span_of(text, one.words), _span_of(text, other.words)))
    between = text[first[1] : second[0]]
    members = _JOINED.split(between)
    is_short = all(len(_TOKEN.findall(it)) <= _MOST_WORDS_OF_MEMBER for it in members)
    has_conjunction = _CONJUNCTION.search(between) or _CONJUNCTION.match(text, second[1])
    return len(members) > 1 and is_short and has_conjunction is not None


def _span_of(text: str, words: Set[str]) -> tuple[int, int]:
    """Start and end of the first tokens of a text with these stems; (0, 0) if there are none."""
    own = [token for token in _TOKEN.finditer(text) if _stem(token) in words]
    return (own[0].start(), own[min(len(words), len(own)) - 1].end()) if own else (0, 0)


@dataclass(frozen=True, slots=True)
class OtherCondition:
    """A phrase of the question, and the phrase that a candidate has in its place."""

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
        """The candidates that are relevant enough but do not meet a condition of the question, by
        index: the other condition that a candidate has, or None if it only lacks the condition.

        Candidates that only lack a condition are included if a better candidate shows that it is
        one, and no candidate before that meets all conditions. floor: relevance that is enough.
        """
        order = (-part.relevance).argsort(kind="stable").tolist()
        enough = [nth for nth in order if part.relevance[nth] >= floor]
        others = {nth: self._other(candidates[nth]) for nth in enough}
        unmet: dict[int, OtherCondition | None] = {nth: it for nth, it in others.items() if it}
        for nth in enough:
            if nth not in unmet:
                break
            if other := others[nth]:
                lacking = (it for it in enough if not self._has_words(candidates[it], other.asked))
                unmet |= {it: others[it] for it in lacking}
        return unmet

    def _other(self, one: Candidate) -> OtherCondition | None:
        """The other condition that a candidate, the heading above it or its paper's title has;
        None if there is none."""
        context = self.contexts[one.context]
        own = _own_text(one, context)
        known = stems_in(own)
        missing = phrases_in(self.question, known, is_question=True)
        around = known | stems_in(self._around(one)) if missing else known
        missing = [it for it in missing if self._share_of_others(around, it) >= _LEAST_HELD]
        if not missing:
            return None
        if one.kind is CandidateKind.ROW:
            return self._other_in_row(one, missing)
        for phrase in phrases_in(own, self._asked):
            for asked in missing:
                if self._are_distinct(one, asked, phrase):
                    return OtherCondition(asked, phrase)
        for title in (title_of(context.section_at(one.start)), context.paper.title):
            words = stems_in(title)
            for asked in phrases_in(self.question, known | words, is_question=True):
                for phrase in phrases_in(title, self._asked):
                    if asked.shares_neighbour(phrase) and self._are_siblings(asked, phrase):
                        return OtherCondition(asked, phrase)
        return None

    def _other_in_row(self, one: Candidate, missing: Sequence[Phrase]) -> OtherCondition | None:
        """The first name in a table row that the papers list together with a missing phrase."""
        quoted = QuotedText(self.contexts[one.context].text, one.start, one.end)
        for _, cell in (cell for row in quoted.rows for cell in row.cells):
            phrase = Phrase(cell.text, terms_of(cell.text), "", "", "")
            if cell.is_value or phrase.words <= self._asked:
                continue
            for asked in missing:
                if self._are_siblings(asked, phrase):
                    return OtherCondition(asked, phrase)
        return None

    def _share_of_others(self, known: Set[str], asked: Phrase) -> float:
        """The share of the question's words without those of a phrase that are known."""
        others = [
            word
            for phrase in phrases_in(self.question, frozenset(), is_question=True)
            for word in phrase.words - asked.words
        ]
        return sum(has_term(known, word) for word in others) / max(1, len(others))

    def _are_distinct(self, one: Candidate, asked: Phrase, phrase: Phrase) -> bool:
        """Whether a phrase of a candidate has the role of a missing phrase of the question, and the
        papers show that both mean different things (see the module)."""
        are_names = asked.is_name and phrase.is_name
        if not (asked.may_stand_for(phrase) if are_names else asked.shares_neighbour(phrase)):
            return False
        if self._are_siblings(asked, phrase):
            return True
        # A similar sentence must have the phrase of the question, or a third one ("in March").
        others = self._replacements(phrase, one) if are_names else ()
        return self._are_of_one_kind(asked, phrase) and any(
            asked.words <= other.words or other.words.isdisjoint(self._asked) for other in others
        )

    def _are_siblings(self, one: Phrase, other: Phrase) -> bool:
        """Whether the papers enumerate the phrases together."""
        for members in self._enumerations:
            has_one = any(one.words <= words for words in members)
            if has_one and any(
                other.words <= words and not one.words <= words for words in members
            ):
                return True
        for text in self._texts_with(one.words):
            if other.words <= stems_in(text):
                is_list = not one.may_be_a_verb and are_enumerated(text, one, other)
                if is_list and self._differ(one, other):
                    return True
        return False

    def _replacements(self, phrase: Phrase, one: Candidate) -> Iterator[Phrase]:
        """The phrases that replace a phrase of a candidate in otherwise similar sentences of the
        same paper: "March" for "January" in "It rose in January." if "It rose in March." exists."""
        own_words = _words(one.text)
        for text in self._texts.get(one.paper_id, ()):
            words = _words(text)
            if text == one.text:
                continue
            for own in phrases_in(one.text, stems_in(text)):
                if not own.words & phrase.words:
                    continue
                for other in phrases_in(text, stems_in(one.text)):
                    if own.replaces(other) and _are_parallel(
                        len(own_words & words),
                        len(own_words - own.words),
                        len(words - other.words),
                    ):
                        yield other

    def _are_of_one_kind(self, one: Phrase, other: Phrase) -> bool:
        """Whether both are numbers, or neither is and their vectors are near enough."""
        if one.is_number or other.is_number:
            return one.is_number and other.is_number
        return self._likeness(one.text.lower(), other.text.lower()) >= self.reader.scale.kin_from

    def _likeness(self, one: str, other: str) -> float:
        if (one, other) not in self._likenesses:
            self._likenesses[one, other] = likeness(one, other, self.reader)
        return self._likenesses[one, other]

    def _differ(self, one: Phrase, other: Phrase) -> bool:
        """Whether phrases mean different things. Names always do; other words unless their vectors
        are as near as those of synonyms."""
        is_name = not (one.text.islower() and other.text.islower())
        return (
            is_name
            or self._likeness(one.text.lower(), other.text.lower()) < self.reader.scale.same_from
        )

    def _texts_with(self, words: Set[str]) -> Iterator[str]:
        """The sentences and items of all papers that have all these stems."""
        return (text for texts in self._texts.values() for text in texts if words <= stems_in(text))

    def _has_words(self, one: Candidate, asked: Phrase) -> bool:
        """Whether a candidate or what it is said under has all words of a phrase."""
        known = stems_in(_own_text(one, self.contexts[one.context])) | stems_in(self._around(one))
        return all(has_term(known, word) for word in asked.words)

    def _around(self, one: Candidate) -> str:
        """The text around a candidate: its paragraph up to it, section, table, and paper."""
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
                if unit.kind is StatementKind.ITEM:
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
            [stems_in(text) for text in group if len(text.split()) <= _MOST_WORDS_IN_LIST]
            for group in (*found, *headings.values())
        )
        return [group for group in members if len(group) > 1]


def _are_parallel(n_shared: int, n_words: int, n_other_words: int) -> bool:
    """Whether two sentences are alike but for one phrase each.

    n_shared: words that both have. n_words, n_other_words: words of each without its phrase.
    """
    shorter, longer = sorted((n_words, n_other_words))
    is_enough = n_shared >= max(_LEAST_SHARED, _SHARE_OF_SHORTER * shorter)
    return is_enough and n_shared > _SHARE_OF_LONGER * longer


def _own_text(one: Candidate, context: Context) -> str:
    """The text that is published for a candidate, and the question that it answers, if the paper
    asks one before it."""
    if one.kind is CandidateKind.ROW:
        return one.quote
    return f"{context.text[slice(*one.shown)]} {one.lead if one.lead.endswith('?') else ''}"


def _words(text: str) -> frozenset[str]:
    """The stems of a text without numbers."""
    return frozenset(term for term in terms_of(text) if not term[0].isdigit())
