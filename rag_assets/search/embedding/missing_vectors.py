"""Makes the vectors that the cache lacks, batch by batch, and what worker processes do with texts:
they count tokens, and make vectors with models that run on the worker.

For the packaged model, token vectors are stored in the same pass. The caller decides what is
published. Models behind an API are not asked from workers: they have a budget, which a single
process must keep.
"""

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from rag_assets.core.errors import BudgetExhausted, MissingModel, ModelFault
from rag_assets.core.paper_tables import QuarantinedPaper, none_quarantined
from rag_assets.core.promises import Promise
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread, Workforce, demanded, within
from rag_assets.search.embedding.base import Embedder, Vectors
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.embedding.token_vectors import (
    LocalTokenEncoder,
    StoredTokens,
    TokenStore,
    open_token_encoder,
)
from rag_assets.search.embedding.vector_cache import VectorCache

logger = logging.getLogger(__name__)
EMBEDDING_BATCH = 64
"""Passages per batch; the cache is saved after each batch."""


@dataclass(frozen=True)
class EmbeddingRun:
    """The result of `embed_missing`."""

    n_embedded: int
    lost: Mapping[str, str] = field(default_factory=dict)
    """By text, why it has no vector, as a phrase that follows a file's name."""


def ignore_progress(done: int, total: int) -> None:
    """The default of `report`: shows nothing."""


Batch = list[str]
Embed = Callable[[Iterable[Batch]], Iterable[tuple[Batch, Vectors | Failure]]]
"""Makes the vectors of batches. Yields each batch with its vectors, in the order in which they are
finished."""
EncodeTokens = Callable[
    [Iterable[Batch]], Iterable[tuple[Batch, list[tuple[Vectors, StoredTokens]] | Failure]]
]
"""Makes the vector and the tokens of each text in batches. Yields each batch with them, in the
order in which they are finished."""


def embed_missing(
    cache: VectorCache,
    embedder: Embedder,
    texts: Iterable[str],
    *,
    batch_size: int,
    embed: Embed | None = None,
    report: Callable[[int, int], None] = ignore_progress,
) -> EmbeddingRun:
    """Embed the texts that have no vector in the cache. After each batch the cache is saved and
    `report(done, total)` is called.

    A batch has `batch_size` texts, or fewer if the model's provider accepts fewer in one request.
    embed: makes the vectors; by default the embedder does, in this process. If no vector is
    missing, the model is not loaded.

    Raises ValueError if cache and embedder have different models. Raises BudgetExhausted or a
    ModelFault, with the number of remaining passages, if a model behind an API must not be asked
    any more or does not answer; vectors saved before are not asked for again.
    """
    if embedder.identity != cache.identity:
        raise ValueError(f"the cache is for {cache.identity}, the embedder is {embedder.identity}")
    missing = cache.missing(texts)
    if missing:
        logger.info("Embedding %d passages with %s.", len(missing), embedder.identity)
    n_done, lost = 0, dict[str, str]()
    batches = _requests(embedder, missing, batch_size)
    embed = embed or (lambda batches: ((one, embedder.embed_passages(one)) for one in batches))
    try:
        for batch, vectors in embed(batches):
            n_done += len(batch)
            if isinstance(vectors, Failure):
                lost |= _lost(batch, vectors)
            else:
                cache.add(batch, vectors)
            report(n_done, len(missing))
    except (BudgetExhausted, ModelFault) as error:
        raise type(error)(
            f"{error} Of {len(missing)} passages, {len(missing) - n_done} are still to be embedded; "
            "the others are saved, and another run goes on from there."
        ) from error
    lost |= _refused(cache, missing)
    return EmbeddingRun(len(missing) - len(lost), lost)


def _refused(cache: VectorCache, texts: Iterable[str]) -> dict[str, str]:
    """The reason for each text whose vector the cache refused: its length is not 1, or not
    finite."""
    return {
        text: f"has a passage whose vector has {problem}"
        for text in texts
        if (problem := cache.refused.get(text))
    }


def _lost(batch: Batch, failure: Failure) -> dict[str, str]:
    """The reason for each text of a batch that failed. Raises the failure if no text can be its
    cause."""
    if failure.raised:
        raise failure.raised
    return dict.fromkeys(batch, failure.reason)


def _requests(embedder: Embedder, texts: Batch, batch_size: int) -> Iterator[Batch]:
    """The texts in batches of at most `batch_size`, divided further if a provider accepts fewer
    texts in one request."""
    for batch in _batches(texts, batch_size):
        for size in embedder.request_sizes(batch):
            yield batch[:size]
            batch = batch[size:]


def _batches(texts: Batch, batch_size: int) -> Iterator[Batch]:
    return (texts[start : start + batch_size] for start in range(0, len(texts), batch_size))


def store_missing_tokens(
    tokens: TokenStore,
    encode: EncodeTokens,
    cache: VectorCache,
    texts: Iterable[str],
    *,
    batch_size: int,
    report: Callable[[int, int], None] = ignore_progress,
) -> EmbeddingRun:
    """Store the tokens of the texts that have none.

    The model makes a text's vector in the same pass, so the vectors that `cache` (of the same
    model) lacks are added to it; the result counts these. If the process is killed, the current
    batch is lost.
    """
    missing, n_embedded, n_done, lost = tokens.missing(texts), 0, 0, dict[str, str]()
    for batch, encoded in encode(_batches(missing, batch_size)):
        n_done += len(batch)
        if isinstance(encoded, Failure):
            lost |= _lost(batch, encoded)
            continue
        vectors, token_codes = zip(*encoded, strict=True)
        tokens.add(batch, token_codes)
        without_vector = cache.missing(batch)
        cache.add(
            without_vector,
            [vector for text, vector in zip(batch, vectors, strict=True) if text in without_vector],
        )
        n_embedded += len(without_vector)
        report(n_done, len(missing))
    refused = _refused(cache, missing)
    return EmbeddingRun(n_embedded - len(refused), lost | refused)


@dataclass(frozen=True)
class VectorsCandidate:
    """Vectors before publication."""

    quarantined: Sequence[QuarantinedPaper]


EMBEDDING_PROMISES: list[Promise[Any]] = [
    none_quarantined(
        "Vectors of length 1 can be made of every paper. Each other is listed with the reason; it is found by its "
        "words only, and the next run tries it again."
    ),
]


Result = TypeVar("Result")
_MOST_LOST = 32
"""After this many lost batches in a row the machine is taken to be at fault, not the texts."""


def counting(
    settings: EmbeddingSettings, models_folder: Path
) -> Callable[[Sequence[str]], list[int]]:
    """A picklable function that counts tokens with the model that the settings name."""
    return partial(_count_tokens, settings=settings.model_dump_json(), models_folder=models_folder)


def embedding_in(
    workforce: Workforce,
    settings: EmbeddingSettings,
    own_models: Path,
    identity: str,
    paper_of: Mapping[str, str],
) -> Embed:
    """A function that makes vectors of passages with the model that the settings name, see
    `by_paper_if_lost`.

    own_models: folder of models on this machine. identity: of the model on this machine; a worker
    that has other files of the model raises MissingModel. paper_of: paper_id of each text.
    """
    models = workforce.models_folder(own_models)
    # settings as JSON: a worker caches the model that it opens by this text, see `_embedder`
    work = partial(
        _vectors, settings=settings.model_dump_json(), models_folder=models, identity=identity
    )
    return partial(by_paper_if_lost, _unlimited(workforce), work, paper_of)


def encoding_in(
    workforce: Workforce, settings: EmbeddingSettings, own_models: Path, paper_of: Mapping[str, str]
) -> EncodeTokens:
    """A function that makes vectors and token vectors of passages with the packaged model, see
    `by_paper_if_lost`."""
    models = workforce.models_folder(own_models)
    work = partial(_tokens, settings=settings.model_dump_json(), models_folder=models)
    return partial(by_paper_if_lost, _unlimited(workforce), work, paper_of)


def by_paper_if_lost(
    spread: Spread,
    work: Callable[[Batch], Result],
    paper_of: Mapping[str, str],
    batches: Iterable[Batch],
) -> Generator[tuple[Batch, Result | Failure]]:
    """Do `work` on batches of texts. If a batch is lost (its worker died), its texts are tried
    again, one batch per paper, so that one bad paper does not cost others their vectors. A batch of
    a single paper is not tried again; its failure is returned.

    paper_of: paper_id of each text. Raises WorkLost if `_MOST_LOST` batches in a row are lost.
    """
    repeated_batches: list[Batch] = []
    n_lost = 0
    # the second round sees what the first one has added to `repeated_batches`
    for round_batches in (batches, repeated_batches):
        with closing(spread(work, round_batches)) as results:
            for batch, result in results:
                is_lost = isinstance(result, Failure) and not result.raised
                n_lost = n_lost + 1 if is_lost else 0
                if n_lost == _MOST_LOST:
                    demanded(result)  # raises WorkLost
                papers = {paper_of[text] for text in batch}
                if is_lost and len(papers) > 1:
                    repeated_batches += [
                        [text for text in batch if paper_of[text] == paper]
                        for paper in sorted(papers)
                    ]
                else:
                    yield batch, result


def _unlimited(workforce: Workforce) -> Spread:
    """Run work without a time limit: a large model may need long for a batch, and no text takes
    much longer than others."""
    return within(None, workforce)


def _count_tokens(texts: Sequence[str], settings: str, models_folder: Path) -> list[int]:
    return _embedder(settings, models_folder).count_tokens(texts)


def _vectors(texts: list[str], settings: str, models_folder: Path, identity: str) -> Vectors:
    embedder = _embedder(settings, models_folder)
    if embedder.identity != identity:
        raise MissingModel(
            f"{models_folder} of a worker holds {embedder.identity}, this run uses {identity}. Delete that folder "
            "there, or copy the files of the model."
        )
    return embedder.embed_passages(texts)


def _tokens(
    texts: list[str], settings: str, models_folder: Path
) -> list[tuple[Vectors, StoredTokens]]:
    return _encoder(settings, models_folder).embed_and_code(texts)


@cache
def _embedder(settings: str, models_folder: Path) -> Embedder:
    return open_embedder(
        EmbeddingSettings.model_validate_json(settings), models_folder.expanduser()
    )


@cache
def _encoder(settings: str, models_folder: Path) -> LocalTokenEncoder:
    return open_token_encoder(
        EmbeddingSettings.model_validate_json(settings), models_folder.expanduser()
    )
