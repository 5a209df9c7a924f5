"""Papers made of odd texts in many scripts, and what must hold of their chunks and passages."""

import random
from collections.abc import Sequence
from itertools import pairwise

from rag_assets.core.domain import Block, BlockKind, Cell, Chunk, Passage, Span, Zone
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.chunking.passages import cut_passages

SETTINGS = ChunkingSettings(
    target_tokens=60,
    max_tokens=80,
    overlap_tokens=12,
    min_tokens=8,
    min_chars=20,
    context_tokens=10,
)
PASSAGES = PassageSettings(target_tokens=24)
MODEL_READS = 32
_ALPHABETS = (
    "abcdefghij ",
    "ABCDEFGHIJKLM. ",
    "αβγδεζηθ ",
    "абвгдежз. ",
    "אבגדהוזח ",
    "ابتثجحخد ",
    "कखगघङचछज। ",
    "กขคงจฉชซ",
    "漢字仮名交文。",
    "가나다라마바사 ",
    "🧪🦠😀é́̈ ",
    "0123456789.,;:()%±<> ",
    "a.b.e.g.i.e. Fig. 2 et al. ",
    "\u200b\u00ad\ufeff\u2060 a",
    "\x00\x01\x1f\x7f\ufffd\u0085 b",
    "\n\n \t|x",
    "-—–_/\\#*`~$&@^ ",
)
_LENGTHS = (0, 1, 3, 20, 90, 300, 1500)


def text(rng: random.Random) -> str:
    """Up to 1,500 characters of one to three scripts."""
    parts = [
        "".join(rng.choices(rng.choice(_ALPHABETS), k=rng.choice(_LENGTHS)))
        for _ in range(rng.choice((1, 1, 2, 3)))
    ]
    return rng.choice(("", " ", ". ", "\n\n")).join(parts)


def paper(rng: random.Random) -> list[Block]:
    """Up to 30 blocks of any kind in a few sections."""
    paths = [(), ("A",), ("A", "A.1"), ("A", "A.2"), ("B",), (text(rng)[:50],)]
    blocks: list[Block] = []
    path, zone = rng.choice(paths), Zone.BODY
    for _ in range(rng.choice((1, 2, 5, 12, 30))):
        if rng.random() < 0.4:
            path, zone = rng.choice(paths), rng.choice((Zone.BODY, Zone.BODY, *Zone))
            if path:
                blocks.append(_block(rng, BlockKind.HEADING, path[-1], path, zone))
        kind = rng.choice((BlockKind.PARAGRAPH, BlockKind.PARAGRAPH, *BlockKind))
        if kind is BlockKind.TABLE:
            blocks.append(_table(rng, path, zone))
        elif kind is not BlockKind.HEADING:
            blocks.append(_block(rng, kind, text(rng), path, zone))
    return blocks


def _block(
    rng: random.Random, kind: BlockKind, words: str, path: tuple[str, ...], zone: Zone
) -> Block:
    title = text(rng)[:200] if kind is BlockKind.FIGURE else ""
    is_generated = kind is BlockKind.FIGURE and rng.random() < 0.5
    return Block(kind, words, path, zone, _spans(rng, words), title, is_generated=is_generated)


def _table(rng: random.Random, path: tuple[str, ...], zone: Zone) -> Block:
    n_columns = rng.choice((1, 2, 3, 8))
    rows = [
        [" ".join(text(rng)[: rng.choice((0, 3, 10, 200))].split()) for _ in range(n_columns)]
        for _ in range(rng.choice((1, 2, 5, 20)))
    ]
    cells = tuple(
        Cell(r, c, value, is_header=r == 0)
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
    )
    words = "\n".join(" | ".join(row).strip() for row in rows)
    return Block(
        BlockKind.TABLE,
        words,
        path,
        zone,
        _spans(rng, words),
        text(rng)[:300],
        cells=cells if rng.random() < 0.8 else (),
    )


def _spans(rng: random.Random, words: str) -> tuple[Span, ...]:
    if not words or rng.random() < 0.2:
        return ()
    cut = rng.randrange(len(words) + 1)
    pieces = [(0, cut, 1), (cut, len(words), rng.choice((1, 2, None)))]
    return tuple(Span(start, end, page, page) for start, end, page in pieces if start < end)


def broken_promises(blocks: Sequence[Block], counter: TokenCounter) -> list[str]:
    """What does not hold of the paper's chunks and passages; empty when everything does."""

    def count(texts: Sequence[str]) -> list[int]:
        return [n_tokens + 2 for n_tokens in counter.count_all(texts)]

    chunks = chunk_paper("p", blocks, "p.xml", "tei", SETTINGS, counter, "f")
    passages = cut_passages(chunks, PASSAGES, count, MODEL_READS)
    found = [problem for chunk in chunks for problem in _chunk_problems(chunk)]
    if len({chunk.chunk_id for chunk in chunks}) < len(chunks):
        found.append("two chunks have one id")
    if len({passage.passage_id for passage in passages}) < len(passages):
        found.append("two passages have one id")
    wanted = sum(block.n_chars for block in blocks if _belongs(block))
    if sum(chunk.n_own_chars for chunk in chunks) != wanted:
        found.append(
            f"chunks hold {sum(chunk.n_own_chars for chunk in chunks)} of {wanted} characters"
        )
    return found + _passage_problems(chunks, passages)


def _belongs(block: Block) -> bool:
    return block.kind is not BlockKind.HEADING and block.zone is not Zone.BACK


def _chunk_problems(chunk: Chunk) -> list[str]:
    found = []
    if not 1 <= chunk.n_tokens <= SETTINGS.max_tokens:
        found.append(f"a chunk has {chunk.n_tokens} tokens")
    if any(before.end > after.start for before, after in pairwise(chunk.spans)):
        found.append("spans overlap")
    covered = bytearray(len(chunk.text))
    for span in chunk.spans:
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    if len(covered) != len(chunk.text):
        found.append("a span ends behind its text")
    if any(
        not is_covered and not character.isspace()
        for is_covered, character in zip(covered, chunk.text, strict=False)
    ):
        found.append("a character that can be quoted has no span")
    if any(before.end > after.start for before, after in pairwise(chunk.sections)):
        found.append("sections overlap")
    return found


def _passage_problems(chunks: Sequence[Chunk], passages: Sequence[Passage]) -> list[str]:
    found = [
        f"a passage has {one.n_tokens} tokens" for one in passages if one.n_tokens > MODEL_READS
    ]
    if {one.chunk_id for one in passages} != {chunk.chunk_id for chunk in chunks}:
        found.append("a chunk has no passage")
    if any(one.char_start > one.char_end for one in passages):
        found.append("a passage ends before it begins")
    by_chunk: dict[str, str] = {}
    for one in passages:
        by_chunk[one.chunk_id] = by_chunk.get(one.chunk_id, "") + one.text
    for chunk in chunks:
        own = set("".join(chunk.text[chunk.own_start :].split()))
        if not own <= set(by_chunk.get(chunk.chunk_id, "")):
            found.append("a character of a chunk is in no passage of it")
    return found
