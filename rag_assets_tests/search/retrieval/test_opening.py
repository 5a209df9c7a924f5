"""Opening what a search needs, and going on with what is left."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pytest
from filelock import FileLock

from rag_assets.core import table_files
from rag_assets.core.errors import MissingInput, StaleIndex
from rag_assets.core.incremental import LOCK_NAME
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import write_table
from rag_assets.core.tables import PAPERS, PROFILES, REFERENCES, to_table
from rag_assets.corpus.profiles import profile_of
from rag_assets.hosted.connections import Connections
from rag_assets.questions import asked
from rag_assets.search.embedding.providers import embedder_facts
from rag_assets.search.retrieval import opening
from rag_assets.search.retrieval.opening import corpus_version, open_searcher
from rag_assets.search.retrieval.search import Searcher
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of

CORPUS = Corpus(
    [
        chunk_of("iron", "Ferritin fell in all groups. Iron stores recovered later."),
        chunk_of("bridge", "Steel bridges carry loads. Welded joints tire.", paper_id="jones2021"),
    ]
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A data folder with tables and both indexes, whose vectors pass for those of the configured
    model."""
    settings = Settings.model_validate(
        {"data_dir": tmp_path / "data", "chunking": {"tokenizer": "wordpiece"}}
    )
    paths = settings.paths
    CORPUS.write_tables(paths.chunks, paths.passages)
    write_table(to_table([], PROFILES), paths.profiles, {})
    write_table(to_table([], PAPERS), paths.records, {})
    write_table(to_table([], REFERENCES), paths.references, {})
    CORPUS.index(paths.chroma.parent, embedder_facts(settings.embedding, paths.models).identity)
    return settings


def test_a_question_is_answered_without_pandas(settings: Settings) -> None:
    """Arrow imports it for a `take` or a `to_numpy`: 35 MB of each process that answers, and a
    second of the first."""
    given = {
        "data_dir": str(settings.data_dir),
        "chunking": {"tokenizer": "wordpiece"},
        "retrieval": {"dense_weight": 0},
    }
    script = f"""
import sys
import numpy as np
from rag_assets.core.settings import Settings
from rag_assets.hosted.connections import Connections
from rag_assets.questions import asked
from rag_assets.search.indexing.exact_vectors import ExactVectors
from rag_assets.search.indexing.protocols import Scope
from rag_assets.search.retrieval.opening import open_searcher
settings = Settings.model_validate({given!r})
with open_searcher(settings, Connections(settings.model_access)) as searcher:
    found = searcher.evidence(asked("What tires, says jones2021?"), 2).hits
vectors = ExactVectors.open(settings.paths.chroma)
near = vectors.search(np.ones(vectors.dimension, np.float32), 2, Scope(paper_ids=("jones2021",)))
print(len(found), len(near), {{"idutils", "pandas"}} & set(sys.modules))
"""

    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert result.stdout == "1 2 set()\n"


def opened(settings: Settings) -> Searcher:
    return open_searcher(settings, Connections(settings.model_access))


def words_alone(settings: Settings) -> list[str]:
    """Chunk ids for a question that words answer; loading the model for it would fail the test's
    purpose."""
    with opened(settings) as searcher:
        hits = searcher.hits(searcher.rank("Which joints tire?"), 2)
    assert all(hit.dense_score is None for hit in hits)
    return [hit.chunk.chunk_id for hit in hits]


def test_what_is_missing_while_the_first_run_writes_is_no_reason_to_make_it_again(
    settings: Settings,
) -> None:
    """Who follows the advice waits for the run, and then runs everything once more for nothing."""
    shutil.rmtree(settings.paths.chroma)
    shutil.rmtree(settings.paths.bm25)

    with FileLock(settings.data_dir / LOCK_NAME), pytest.raises(MissingInput) as raised:
        opened(settings)

    assert "A run is writing" in str(raised.value)
    assert "rag-assets index build" not in str(raised.value)


@pytest.mark.parametrize("title", ["Joints that tire", ""])
def test_contexts_have_the_title_of_their_paper(settings: Settings, title: str) -> None:
    """A parser takes it out of the text; without it nobody can tell whose text a context is."""
    row = {"paper_id": "jones2021", "title": title, "authors": [], "keywords": []}
    write_table(to_table([row], PAPERS), settings.paths.records, {})
    shutil.rmtree(settings.paths.chroma)

    with opened(settings) as searcher:
        evidence = searcher.evidence(asked("Which joints tire?"), 2)

    assert {(one.paper_id, one.paper.title) for one in evidence.contexts} == {("jones2021", title)}


def test_without_vectors_the_words_answer_and_the_model_stays_unloaded(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """Half a search is better than none, as long as somebody is told."""
    shutil.rmtree(settings.paths.chroma)

    assert words_alone(settings) == ["bridge"]
    assert "chroma is not used: it is missing or unfinished" in caplog.text
    assert not settings.paths.models.exists()


def test_vectors_of_another_model_are_not_used(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """A question's vector by one model says nothing about passages' vectors by another."""
    other = settings.model_copy(
        update={
            "embedding": settings.embedding.model_copy(update={"model": "local:all-MiniLM-L6-v2"})
        }
    )

    assert words_alone(other) == ["bridge"]
    assert "was built with local-multilingual-e5-small-int8-" in caplog.text
    assert "this run asks for local-all-MiniLM-L6-v2-" in caplog.text
    assert "rag-assets index build" in caplog.text


def test_an_index_of_other_passages_is_not_used(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """It would return ids that no longer exist, or miss what was added."""
    grown = Corpus([*CORPUS.chunks, chunk_of("new", "A new sentence.", paper_id="lee2024")])
    grown.write_tables(settings.paths.chunks, settings.paths.passages)
    shutil.rmtree(settings.paths.chroma)

    with pytest.raises(MissingInput, match="rag-assets index build --data"):
        opened(settings)

    assert "describes other passages (4) than the published ones (5)" in caplog.text


@pytest.mark.parametrize("name", ["chunks", "passages"])
def test_a_missing_table_is_named_with_its_remedy(settings: Settings, name: str) -> None:
    """The first question of a newcomer ends here; the message is all they have, and one command
    must be enough."""
    getattr(settings.paths, name).unlink()

    with pytest.raises(MissingInput) as caught:
        opened(settings)

    assert str(caught.value) == (
        f"There is no index in {settings.data_dir} that can be searched. Make it, and what it needs, from the papers: "
        f"rag-assets index build --data {settings.data_dir}"
    )


def test_tables_that_do_not_fit_each_other_are_refused(settings: Settings) -> None:
    """A passage without its chunk cannot be cited."""
    paths = settings.paths
    Corpus(CORPUS.chunks[:1]).write_tables(paths.chunks, paths.cache / "other.parquet")

    with pytest.raises(StaleIndex, match="has passages of chunk 'bridge'"):
        opened(settings)


def test_a_question_reads_only_the_tables_that_changed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every question asks for the version; reading each table for it would cost more with every
    paper."""
    read, paths = list[str](), settings.paths

    def read_columns(path: Path, columns: Sequence[str]) -> pa.Table:
        read.append(path.stem)
        return table_files.read_columns(path, columns)

    monkeypatch.setattr(opening, "read_columns", read_columns)
    before = corpus_version(settings)
    assert read == ["chunks", "profiles", "references"]

    assert corpus_version(settings) == before
    assert read == ["chunks", "profiles", "references"]

    write_table(
        to_table([asdict(profile_of("new", "", [])) | {"fingerprint": "1"}], PROFILES),
        paths.profiles,
        {},
    )

    assert corpus_version(settings) != before
    assert read == ["chunks", "profiles", "references", "profiles"]
