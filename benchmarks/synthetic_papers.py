"""Papers of random words whose vectors, those of tokens too, are random directions, in the real
files of the pipeline: large corpora in minutes.

Words are whole words of the embedding model's vocabulary, as frequent as Zipf's law has them, so
that a passage has about as many tokens as one of a real paper.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tokenizers import Tokenizer

from rag_assets.core.domain import Box, Chunk, ChunkUnit, Passage, Span, StatementKind
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import load_settings
from rag_assets.core.table_files import write_table
from rag_assets.core.tables import CHUNKS, PASSAGES, PROFILES, chunk_row, passage_row, to_table
from rag_assets.core.text.tokens import packaged_model_folder
from rag_assets.corpus.profiles import profile_of
from rag_assets.search.embedding.providers import embedder_facts
from rag_assets.search.embedding.token_vectors import (
    DIMENSION,
    N_BYTES,
    StoredTokens,
    TokenCodes,
    TokenStore,
    open_token_encoder,
)
from rag_assets.search.indexing.exact_vectors import write_vectors
from rag_assets.search.indexing.folders import stage_index, write_manifest
from rag_assets.search.indexing.protocols import IndexManifest, IndexRow, index_rows
from rag_assets.search.indexing.stores import vector_index, word_index

WORDS_PER_SENTENCE, SENTENCES_PER_PASSAGE, PASSAGES_PER_CHUNK, CHUNKS_PER_PAPER = 18, 8, 5, 16
SENTENCES_PER_PAPER = SENTENCES_PER_PASSAGE * PASSAGES_PER_CHUNK * CHUNKS_PER_PAPER
N_WORDS = 20_000


def make_corpus(data: Path, n_passages: int) -> None:
    """Tables, token vectors and both indexes of random papers, below `data`. Chroma's graph is left
    out: so few vectors are compared one by one, and the graph is not opened."""

    settings = load_settings({"data_dir": str(data)})
    paths = settings.paths
    paths.cache.mkdir(parents=True, exist_ok=True)
    tokens = TokenStore(
        KeptFile(paths.vectors), open_token_encoder(settings.embedding, paths.models).identity
    )
    tables: dict[str, list[pa.Table]] = {"chunks": [], "passages": []}
    rows: list[IndexRow] = []
    for chunks, passages in random_papers(n_passages):
        tables["chunks"].append(to_table([chunk_row(chunk) for chunk in chunks], CHUNKS))
        tables["passages"].append(
            to_table([passage_row(passage, "synthetic") for passage in passages], PASSAGES)
        )
        rows += index_rows(tables["passages"][-1])
        store_random_tokens(tokens, passages)
    write_table(pa.concat_tables(tables["chunks"]), paths.chunks, {"tokenizer": "wordpiece"})
    write_table(pa.concat_tables(tables["passages"]), paths.passages, {})
    papers = pc.unique(pa.concat_tables(tables["chunks"])["paper_id"]).to_pylist()
    named = [
        asdict(profile_of(paper_id, "", [])) | {"fingerprint": paper_id} for paper_id in papers
    ]
    write_table(to_table(named, PROFILES), paths.profiles, {})
    facts = embedder_facts(settings.embedding, paths.models)

    vectors = np.random.default_rng(7).standard_normal((len(rows), facts.dimension), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    stage_index(word_index(settings), rows).publish()
    paths.chroma.mkdir(parents=True)
    by_id = {row.passage_id: row for row in rows}
    write_vectors(paths.chroma, by_id, dict(zip(by_id, vectors, strict=True)))
    hashes = {id_: row.fingerprint for id_, row in by_id.items()}
    write_manifest(
        paths.chroma, IndexManifest.of(vector_index(settings, facts.identity).identity, hashes)
    )


def store_random_tokens(store: TokenStore, passages: Sequence[Passage]) -> None:
    """passages: of one paper. A question reads them as it reads real ones, and finds nothing in
    them."""
    draw = np.random.default_rng(11)
    tokenizer = Tokenizer.from_file(str(packaged_model_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    encodings = tokenizer.encode_batch(
        [passage.text for passage in passages], add_special_tokens=False
    )
    tokens: dict[str, StoredTokens] = {}
    for passage, encoding in zip(passages, encodings, strict=True):
        codes = draw.integers(0, 256, (len(encoding.ids), N_BYTES), np.uint8)
        factors = np.full(len(codes), 1 / np.sqrt(DIMENSION), np.float16)
        tokens[passage.text] = StoredTokens(
            TokenCodes(codes, factors), np.array(encoding.offsets, np.int32)
        )
    store.add(list(tokens), tokens.values())


def random_papers(n_passages: int) -> Iterator[tuple[list[Chunk], list[Passage]]]:
    """Chunks and passages, paper by paper; words as frequent as Zipf's law has them."""

    draw = np.random.default_rng(3)
    words = np.array(vocabulary(), np.str_)
    shares = 1 / np.arange(1, len(words) + 1)
    shares /= shares.sum()
    n_done = 0
    for nth_paper in range(n_passages):
        paper_id, chunks, passages = f"paper{nth_paper:05d}", list[Chunk](), list[Passage]()
        sentences = iter(
            words[draw.choice(N_WORDS, (SENTENCES_PER_PAPER, WORDS_PER_SENTENCE), p=shares)]
        )
        for ordinal in range(CHUNKS_PER_PAPER):
            chunk_id, text, units = f"{paper_id}:{ordinal:012x}", "", list[ChunkUnit]()
            for nth in range(PASSAGES_PER_CHUNK):
                start = len(text)
                for _ in range(SENTENCES_PER_PASSAGE):
                    at = len(text)
                    text += " ".join(next(sentences)).capitalize() + ". "
                    units.append(
                        ChunkUnit(
                            at,
                            len(text) - 1,
                            StatementKind.SENTENCE,
                            len(units),
                            ordinal,
                            at,
                            len(text) - 1,
                        )
                    )
                own = text[start:-1]
                place = (start, start + len(own))
                ids = (f"{chunk_id}#{nth}", chunk_id, paper_id)
                passages.append(
                    Passage(*ids, own, 200, *place, 1, 1, *place, "", "S", "S", fingerprint(*ids))
                )
            spans = tuple(
                Span(unit.start, unit.end, 1, 1, (Box(1, 0.1, 0.1, 0.9, 0.2),), unit.start)
                for unit in units
            )
            chunks.append(
                Chunk(
                    paper_id, "s", "S", chunk_id, text[:-1], 1000, 1, 1, f"{paper_id}.xml", "tei", ordinal, "S",
                    "paragraph", None, False, text[:200], text[-200:], 0, len(text), False, spans, paper_id,
                    units=tuple(units),
                )
            )  # fmt: skip
        yield chunks, passages
        n_done += len(passages)
        if n_done >= n_passages:
            return


def vocabulary() -> list[str]:
    """Words that are one token each, in an order that has nothing to do with the alphabet."""
    known = Tokenizer.from_file(str(packaged_model_folder() / "tokenizer.json")).get_vocab()
    words = sorted(word for word in known if word.isascii() and word.isalpha() and len(word) > 3)
    return [str(word) for word in np.random.default_rng(1).permutation(words)[:N_WORDS]]
