"""Questions put to the published index: retrieval and answering brought together.

The `qa` asset, the smoke evaluation and the command line all ask through here, so they get the same contexts. What
is retrieved is decided in `retrieval`, what becomes of it in `answering`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from rag_assets.answering.drafts import Answerer, DraftAnswer
from rag_assets.answering.engine import ENGINE_VERSION, AnswerEngine, Evidence, Retrieve
from rag_assets.answering.evidence.support import EmbeddedSupport, SupportScorer
from rag_assets.answering.extractive import EXTRACTIVE, EXTRACTIVE_VERSION, ExtractiveAnswerer
from rag_assets.answering.hosted_identity import hosted_answerer_id, judge_id
from rag_assets.answering.replies import ReplyCache
from rag_assets.embedding.base import Embedder
from rag_assets.embedding.providers import embedder_facts, open_embedder
from rag_assets.errors import InvalidQuestions
from rag_assets.hosted.access import PROVIDERS, ModelName, require_access
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.prices import require_price
from rag_assets.incremental import data_version, fingerprint
from rag_assets.indexing.manifest import is_intact, read_manifest
from rag_assets.model import QAResult
from rag_assets.questions import MAX_QUESTION_CHARS, Question
from rag_assets.retrieval.opening import open_searcher
from rag_assets.retrieval.search import SEARCH_VERSION, Searcher
from rag_assets.settings import EmbeddingSettings, ProviderLimits, Settings
from rag_assets.tables import fingerprints_by, read_columns

NO_JUDGE = "none"


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
        encoder = open_embedder(
            _sentence_model(settings), settings.paths.models, n_threads=settings.execution.n_workers
        )

        def evidence(question: Question, k: int) -> Evidence:
            with searching:
                ranking = searcher.rank(question.question, question.paper_ids)
                best = {hit.chunk.chunk_id for hit in searcher.hits(ranking, k)}
                contexts = searcher.contexts([one for one in ranking if one.passage.chunk_id in best])
            chunks = searcher.library.chunks
            return Evidence(tuple(contexts), {context.chunk_id: chunks[context.chunk_id] for context in contexts})

        answerer, scorer = _models(settings, encoder, models)
        engine = AnswerEngine(answerer, evidence, ReplyCache(replies, DraftAnswer), scorer, settings.answering)
        yield Asking(searcher, engine, evidence, encoder, _n_at_once(settings))


def require_models(settings: Settings) -> None:
    """Check, before any work is done, that the models answers need exist and can be asked.

    Raises InvalidSettings, MissingKey.
    """
    for name in _hosted_models(settings).values():
        access = require_access(name.provider)
        if settings.model_access.budget_usd is not None:
            require_price(name, access)


def _hosted_models(settings: Settings) -> dict[str, ModelName]:
    """The models behind an API that answers need, by the setting that names them."""
    named = {
        "answering.model": (settings.answering.model, EXTRACTIVE),
        "judging.model": (settings.judging.model, NO_JUDGE),
    }
    return {
        setting: ModelName.parse(model, setting=setting, instead=without)
        for setting, (model, without) in named.items()
        if model != without
    }


def _models(settings: Settings, encoder: Embedder, models: Connections) -> tuple[Answerer, SupportScorer]:
    """Who writes and who scores."""
    hosted = _hosted_models(settings)
    answerer: Answerer = ExtractiveAnswerer(encoder, settings.extractive, min_sources=settings.answering.min_sources)
    scorer: SupportScorer = EmbeddedSupport(encoder)
    if writer := hosted.get("answering.model"):
        from rag_assets.answering.hosted_answerer import HostedAnswerer

        answerer = HostedAnswerer(writer, models.to(require_access(writer.provider)), settings.answering)
    if judge := hosted.get("judging.model"):
        from rag_assets.answering.judge import open_judge

        scorer = open_judge(judge, models.to(require_access(judge.provider)), scorer, settings.paths.verdicts)
    return answerer, scorer


def _n_at_once(settings: Settings) -> int:
    if settings.answering.model == EXTRACTIVE:
        return 1
    provider = _hosted_models(settings)["answering.model"].provider
    limits: ProviderLimits = getattr(settings.model_access, provider)
    return limits.max_concurrent


def _sentence_model(settings: Settings) -> EmbeddingSettings:
    """The model that compares sentences: that of the index where it runs here, else the embedded one, so that scoring
    costs no request."""
    is_hosted = settings.embedding.model.partition(":")[0] in PROVIDERS
    return EmbeddingSettings() if is_hosted else settings.embedding


def answerer_fingerprint(settings: Settings) -> str:
    """Changes with anything but the index that an answer follows from; opens no model."""
    return fingerprint(
        settings.retrieval.fingerprint(),
        settings.answering.fingerprint(),
        _answerer_id(settings),
        _judge_id(settings),
        embedder_facts(settings.embedding, settings.paths.models).model_id,
        ENGINE_VERSION,
        SEARCH_VERSION,
    )


def _judge_id(settings: Settings) -> str:
    name = _hosted_models(settings).get("judging.model")
    return judge_id(name, require_access(name.provider)) if name else NO_JUDGE


def _answerer_id(settings: Settings) -> str:
    if settings.answering.model == EXTRACTIVE:
        return f"{EXTRACTIVE}-{EXTRACTIVE_VERSION} {settings.extractive.fingerprint()}"
    name = _hosted_models(settings)["answering.model"]
    return hosted_answerer_id(name, require_access(name.provider))


def search_state(settings: Settings) -> str:
    """Changes with anything on disk that a search result follows from, and with an index that is missing or damaged:
    what was answered with one index must be answered again when both are there."""
    paths = settings.paths
    chunks = read_columns(paths.chunks, ["paper_id", "fingerprint"], asset="chunks")
    return fingerprint(
        data_version(fingerprints_by(chunks, "paper_id")),
        [
            asdict(manifest) if (manifest := read_manifest(folder)) and is_intact(folder) else None
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
    """Answer one question from the published index; nothing is written to the data folder."""
    question = asked(text)
    with (
        TemporaryDirectory() as replies,
        Connections(settings.model_access) as models,
        asking(settings, Path(replies), models) as opened,
    ):
        return opened.engine.answer(question).result
