"""Ranked passages become contexts within a budget."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag_assets.core import tables
from rag_assets.core.domain import Chunk, ChunkUnit, Context, Passage, StatementKind
from rag_assets.search.retrieval.library import Library
from rag_assets.search.retrieval.packing import PassageSizes, pack_contexts
from rag_assets_tests.search.retrieval.corpus import (
    Corpus,
    WordCounter,
    chunk_of,
    library_of,
    passage_of,
)

LETTERS = "One a b. Two c d. Three e f. Four g h. Five i j."
CORPUS = Corpus(
    [
        chunk_of("x", LETTERS, paper_id="p1"),
        chunk_of("y", "Six k l. Seven m n.", paper_id="p1", ordinal=1),
        chunk_of("z", "Eight o p. Nine q r.", paper_id="p1", section="Methods", ordinal=2),
        chunk_of("w", "Ten s t. Eleven u v.", paper_id="p2"),
    ]
)
LIBRARY = CORPUS.library


def pack(
    library: Library,
    ids: Sequence[str],
    budget: int,
    expanded: int = 0,
    counter: WordCounter = WordCounter(),  # noqa: B008 - without state
) -> list[Context]:
    """Contexts of passages ranked in that order."""
    ranking = [(int(place), 1.0 - at / 100) for at, place in enumerate(library.places(ids))]
    sizes = PassageSizes(counter, library.n_passages)
    contexts, _ = pack_contexts(
        ranking, library, sizes, budget_tokens=budget, expanded_hits=expanded, n_neighbours=1
    )
    return contexts


def packed(ids: Sequence[str], budget: int, expanded: int = 0) -> list[Context]:
    return pack(LIBRARY, ids, budget, expanded)


def library_with(chunks: Sequence[Chunk], passages: Sequence[Passage]) -> Library:
    rows = [tables.passage_row(passage, "f") for passage in passages]
    return library_of(Corpus(chunks).chunk_table, tables.to_table(rows, tables.PASSAGES))


def all_of(corpus: Corpus) -> list[str]:
    return [passage.passage_id for passage in corpus.passages]


def test_passages_that_follow_each_other_become_one_context() -> None:
    """An answer over two passages is quoted in one piece, or not at all."""
    contexts = packed(["x#2", "w#0", "x#1"], 100)

    assert [context.text for context in contexts] == ["Two c d. Three e f.", "Ten s t."]
    assert [(context.chunk_id, context.n_tokens) for context in contexts] == [("x", 6), ("w", 3)]
    assert contexts[0].score == 1.0


def test_top_hits_bring_their_neighbours_of_the_same_section() -> None:
    """An answer often runs over the edge of the passage that was found; another section is another
    matter."""
    contexts = packed(["y#1", "w#0"], 100, 1)

    assert [context.text for context in contexts] == ["Six k l. Seven m n.", "Ten s t."]
    assert [context.text for context in packed(["y#0"], 100, 1)] == [
        "Six k l. Seven m n.",
        "Five i j.",
    ]


def test_a_passage_that_does_not_fit_is_passed_over() -> None:
    """Cutting it would cite half a sentence; stopping would waste the rest of the budget."""
    corpus = Corpus(
        [
            chunk_of("best", "One two."),
            chunk_of("long", "Three four five six seven eight.", ordinal=1),
            chunk_of("short", "Nine ten.", ordinal=2),
        ]
    )

    contexts = pack(corpus.library, all_of(corpus), 5)

    assert [context.text for context in contexts] == ["One two.", "Nine ten."]


def test_the_best_passage_is_packed_whatever_the_budget() -> None:
    """A budget set too low must not read as a corpus that says nothing."""
    corpus = Corpus(
        [
            chunk_of("long", "One two three four five six."),
            chunk_of("short", "Seven eight.", ordinal=1),
        ]
    )

    contexts = pack(corpus.library, all_of(corpus), 3)

    assert [context.text for context in contexts] == ["One two three four five six."]


@given(
    ids=st.lists(st.sampled_from(all_of(CORPUS)), unique=True),
    budget=st.integers(0, 40),
    expanded=st.integers(0, 4),
)
def test_the_budget_is_kept_from_the_second_passage_on_and_nothing_is_packed_twice(
    ids: list[str], budget: int, expanded: int
) -> None:
    """Past the budget a model refuses the request, or forgets its beginning; repeats waste it."""
    contexts = packed(ids, budget, expanded)

    words = [word for context in contexts for word in context.text.split()]
    best = len(LIBRARY.passages(LIBRARY.places(ids[:1]))[0].text.split()) if ids else 0
    assert sum(context.n_tokens for context in contexts) == len(words) <= max(budget, best)
    assert bool(contexts) == bool(ids)
    assert len(words) == len(set(words))
    assert [context.score for context in contexts] == sorted(
        (one.score for one in contexts), reverse=True
    )


def test_a_passage_is_left_out_when_most_of_it_is_packed_already() -> None:
    """The few words that are new in it would be paid for with the room of whole other passages."""
    texts = {
        "a": "One two three four.",
        "mostly a": "two three four. Five",
        "partly a": "four. Five six seven",
    }
    starts = {"a": 0, "mostly a": 4, "partly a": 14}
    passages = [passage_of(id_, text, start=starts[id_]) for id_, text in texts.items()]
    library = library_with([chunk_of(id_, text) for id_, text in texts.items()], passages)

    assert [context.chunk_id for context in pack(library, list(texts), 100)] == ["a", "partly a"]


def test_all_pieces_of_a_long_row_are_packed() -> None:
    """Each says that the whole row is its place in the paper; taken for repeats, all but one would
    be left out."""
    chunk = chunk_of("t", "A | one, two, three")
    passages = [
        passage_of("t#0", "A | one,", chunk_id="t"),
        passage_of("t#1", "two, three", chunk_id="t", chunk_start=9),
    ]
    pieces = [replace(passage, char_start=0, char_end=19) for passage in passages]

    [context] = pack(library_with([chunk], pieces), [piece.passage_id for piece in pieces], 100)

    assert context.text == chunk.text


def test_a_sentence_that_stands_twice_in_its_chunk_is_taken_where_it_was_found() -> None:
    """The words around the other place would be given in its stead, with another section's
    title."""
    chunk = chunk_of("x", "Same words. Other words. Same words. Last words.")
    passages = [
        passage_of("x#0", "Same words.", chunk_id="x"),
        passage_of("x#1", "Other words.", chunk_id="x", chunk_start=12),
        passage_of("x#2", "Same words.", chunk_id="x", chunk_start=25, section="Discussion"),
        passage_of("x#3", "Last words.", chunk_id="x", chunk_start=37, section="Discussion"),
    ]

    [context] = pack(library_with([chunk], passages), ["x#2", "x#3"], 100)

    assert (context.text, context.section_title) == ("Same words. Last words.", "Discussion")


def test_what_stands_between_two_passages_counts_for_the_budget() -> None:
    """A formula that no passage has would push the request past what the model reads."""
    chunk = chunk_of("x", "One two. = = = Three four. Five six.")
    passages = [
        passage_of("x#0", "One two.", chunk_id="x"),
        passage_of("x#1", "Three four.", chunk_id="x", chunk_start=15),
        passage_of("x#2", "Five six.", chunk_id="x", chunk_start=27),
    ]
    library = library_with([chunk], passages)

    def texts(budget: int) -> list[str]:
        return [one.text for one in pack(library, ["x#0", "x#1", "x#2"], budget)]

    assert texts(9) == [chunk.text]
    assert texts(8) == ["One two. = = = Three four."]
    assert texts(6) == ["One two."]


def test_what_a_model_wrote_is_said_to_be_so() -> None:
    """A figure's description must not be taken for the authors' word; its text stays the chunk's,
    to be quoted."""
    text = "Bars rise </AI_GENERATED> slowly (drawn by a model)."
    corpus = Corpus([chunk_of("figure", text)])

    [context] = pack(corpus.library, all_of(corpus), 50)

    assert context.is_generated
    assert context.text == text


def test_a_context_tells_which_passages_it_is_made_of() -> None:
    """A sentence is scored by the passage it stands in; found by its words, it would be looked up
    in the wrong one."""
    [context, _] = packed(["x#2", "w#0", "x#1"], 100)

    assert [(one.passage_id, one.score) for one in context.passages] == [
        ("x#1", 0.98),
        ("x#2", 1.0),
    ]
    assert [context.text[one.start : one.end] for one in context.passages] == [
        "Two c d.",
        "Three e f.",
    ]


TABLE = replace(
    chunk_of("t", "Table 1. Doses\nA | 5 mg\nB | 7 mg\nRows fell."),
    units=(
        ChunkUnit(0, 14, StatementKind.CAPTION, 0, 7, 0, 0),
        ChunkUnit(15, 23, StatementKind.ROW, 1, 7, 0, 0),
        ChunkUnit(24, 32, StatementKind.ROW, 2, 7, 0, 0),
        ChunkUnit(33, 43, StatementKind.SENTENCE, 3, 8, 0, 0),
    ),
)
TABLE_PASSAGES = [
    passage_of("t#0", "Table 1. Doses\nA | 5 mg", chunk_id="t"),
    passage_of(
        "t#1", "B | 7 mg\nRows fell.", chunk_id="t", chunk_start=24, repeated_title="Table 1. Doses"
    ),
]


def test_the_place_of_a_passage_in_its_context_is_that_of_its_own_words() -> None:
    """The repeated title above them is another place of the chunk."""
    [context] = pack(library_with([TABLE], TABLE_PASSAGES), ["t#1"], 100)

    [passage] = context.passages
    assert context.text[passage.start : passage.end] == "B | 7 mg\nRows fell."
    assert passage.text[passage.own_start :] == "B | 7 mg\nRows fell."
    assert passage.text == context.text


def test_a_context_tells_what_its_text_consists_of() -> None:
    """Rows and sentences are quoted each in their own way; chunking knew which is which."""
    library = library_with([TABLE], TABLE_PASSAGES)

    [whole], [last] = pack(library, ["t#0", "t#1"], 100), pack(library, ["t#1"], 100)

    assert [(whole.text[one.start : one.end], one.kind, one.block) for one in whole.units] == [
        ("Table 1. Doses", StatementKind.CAPTION, 0),
        ("A | 5 mg", StatementKind.ROW, 0),
        ("B | 7 mg", StatementKind.ROW, 0),
        ("Rows fell.", StatementKind.SENTENCE, 1),
    ]
    assert [(last.text[one.start : one.end], one.block) for one in last.units] == [
        ("B | 7 mg", 0),
        ("Rows fell.", 1),
    ]
