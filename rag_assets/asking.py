"""Questions put to the published index: retrieval and answering brought together.

The `qa` asset, the smoke evaluation and the command line all ask through here, so they get the same contexts. What
is retrieved is decided in `retrieval`, what becomes of it in `answering`, who is asked in `answer_models`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from rag_assets.answer_models import n_at_once, open_models, open_sentence_model, require_models
from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.engine import AnswerEngine, Evidence, Retrieve
from rag_assets.answering.replies import ReplyCache
from rag_assets.domain import QAResult
from rag_assets.embedding.base import Embedder
from rag_assets.errors import InvalidQuestions
from rag_assets.hosted.connections import Connections
from rag_assets.incremental import data_version, fingerprint
from rag_assets.indexing.manifest import is_intact, read_manifest
from rag_assets.questions import MAX_QUESTION_CHARS, Question
from rag_assets.retrieval.opening import open_searcher
from rag_assets.retrieval.search import Searcher
from rag_assets.settings import Settings
from rag_assets.table_files import read_columns
from rag_assets.tables import fingerprints_by


@dataclass(frozen=True)
class Asking:
    """An open index, an answer engine over it, and the parts they are made of."""

    searcher: Searcher
    engine: AnswerEngine
    retrieve: Retrieve
    encoder: Embedder
    n_at_once: int
    """Questions that may be answered side by side."""


@contextmanager
def asking(settings: Settings, replies: Path, models: Connections) -> Iterator[Asking]:
    """Open what questions need; `replies` is the folder of cached drafts, `models` lead to models behind an API.

    Raises InvalidSettings for a model that does not exist, MissingKey before anything is opened, and what
    `open_searcher` raises.
    """
    require_models(settings)
    searching = Lock()  # indexes and tokenizers are not made for several threads
    with open_searcher(settings, models) as searcher:
        encoder = open_sentence_model(settings)

        def evidence(question: Question, k: int) -> Evidence:
            with searching:
                ranking = searcher.rank(question.question, question.paper_ids)
                best = {hit.chunk.chunk_id for hit in searcher.hits(ranking, k)}
                contexts = searcher.contexts([one for one in ranking if one.passage.chunk_id in best])
            chunks = searcher.library.chunks
            return Evidence(tuple(contexts), {context.chunk_id: chunks[context.chunk_id] for context in contexts})

        answerer, scorer = open_models(settings, encoder, models)
        engine = AnswerEngine(answerer, evidence, ReplyCache(replies, DraftAnswer), scorer, settings.answering)
        yield Asking(searcher, engine, evidence, encoder, n_at_once(settings))


def search_state(settings: Settings) -> str:
    """Changes with anything on disk that a search result follows from, and with an index that is missing or damaged:
    what was answered with one index must be answered again when both are there."""
    paths = settings.paths
    chunks = read_columns(paths.chunks, ["paper_id", "fingerprint"], asset="chunks")
    return fingerprint(
        data_version(fingerprints_by(chunks, "paper_id")),
        [
            manifest.version if (manifest := read_manifest(folder)) and is_intact(folder) else None
            for folder in (paths.chroma, paths.bm25)
        ],
    )


def asked(text: str) -> Question:
    """A question that comes from no file. Raises InvalidQuestions when it is blank or too long."""
    if not 0 < len(text.strip()) <= MAX_QUESTION_CHARS:
        raise InvalidQuestions(f"A question has 1 to {MAX_QUESTION_CHARS} characters, this one {len(text.strip())}.")
    if not text.isprintable():
        raise InvalidQuestions("The question holds characters that are no text. Write it in UTF-8, on one line.")
    return Question(id=text, question=text)


def ask(settings: Settings, text: str) -> QAResult:
    """Answer one question from the published index. No answer or audit is written; what models behind an API say of its
    vector and its claims is kept in the cache."""
    question = asked(text)
    with (
        TemporaryDirectory() as replies,
        Connections(settings.model_access) as models,
        asking(settings, Path(replies), models) as opened,
    ):
        return opened.engine.answer(question).result
