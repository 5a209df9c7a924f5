"""Groups the quotes of an answer that are about the same quantity or finding.

Only quotes of different papers are compared, and only the quotes themselves: what a model wrote about them, in a claim,
decides nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag_assets.answering.agreement.comparing import relation
from rag_assets.answering.agreement.statements import statement_of
from rag_assets.answering.agreement.terms import words_with
from rag_assets.domain import Agreement, Claim, ComparedQuote, Relation

MAX_QUOTES = 60
"""The first so many different quotes of an answer are compared; each with each takes quadratic time."""
_MAX_QUOTE_CHARS = 1_000
"""Longer quotes state too many things to be compared."""
_MOST_WORDS = 6
Relations = Mapping[tuple[int, int], Relation]
"""Of pairs of quotes, by their numbers, the smaller first; pairs that cannot be compared are left out."""


def agreement(claims: Sequence[Claim]) -> tuple[Agreement, ...]:
    """Where papers agree, contradict each other or give different figures, in the order of the claims.

    Each quote is in at most one group. Quotes that agree or contradict are grouped before those that merely differ.
    """
    quotes = list(_different_quotes(claims))
    relations = _relations(quotes)
    groups: dict[int, list[int]] = {}
    for wanted in ({Relation.AGREE, Relation.CONTRADICT}, {Relation.DIFFERENT}):
        grouped = {number for first, members in groups.items() for number in (first, *members)}
        for first in range(len(quotes)):
            members = [
                other
                for other in range(first + 1, len(quotes))
                if other not in grouped and relations.get((first, other)) in wanted
            ]
            if first not in grouped and members:
                groups[first] = members
                grouped.update((first, *members))
    return tuple(_group(quotes, first, groups[first], relations) for first in sorted(groups))


def _different_quotes(claims: Sequence[Claim]) -> Iterator[ComparedQuote]:
    seen = set[tuple[str, int, int]]()
    for number, claim in enumerate(claims, start=1):
        for citation in claim.citations:
            place = (citation.chunk_id, citation.start, citation.end)
            is_compared = not citation.is_generated and len(citation.quote) <= _MAX_QUOTE_CHARS
            if is_compared and place not in seen:
                seen.add(place)
                yield ComparedQuote(number, citation)
            if len(seen) == MAX_QUOTES:
                return


def _relations(quotes: Sequence[ComparedQuote]) -> Relations:
    statements = [statement_of(quote.citation.quote) for quote in quotes]
    return {
        (first, other): found
        for first in range(len(quotes))
        for other in range(first + 1, len(quotes))
        if quotes[first].citation.paper_id != quotes[other].citation.paper_id
        and (found := relation(statements[first], statements[other])) is not None
    }


def _group(quotes: Sequence[ComparedQuote], first: int, members: Iterable[int], relations: Relations) -> Agreement:
    by_relation: dict[Relation, list[ComparedQuote]] = {one: [] for one in Relation}
    for member in members:
        by_relation[relations[first, member]].append(quotes[member])
    order = (Relation.CONTRADICT, Relation.DIFFERENT, Relation.AGREE)
    return Agreement(
        relation=next(one for one in order if by_relation[one]),
        about=_shared_words(quotes[first], [quote for some in by_relation.values() for quote in some]),
        supporting=(quotes[first], *by_relation[Relation.AGREE]),
        contradicting=tuple(by_relation[Relation.CONTRADICT]),
        different=tuple(by_relation[Relation.DIFFERENT]),
    )


def _shared_words(first: ComparedQuote, others: Sequence[ComparedQuote]) -> str:
    own = statement_of(first.citation.quote).terms
    shared = own.intersection(*(statement_of(other.citation.quote).terms for other in others))
    nearest = own & statement_of(others[0].citation.quote).terms
    return " ".join(words_with(first.citation.quote, shared or nearest)[:_MOST_WORDS])
