"""What worker processes do with texts: they count tokens, and make vectors with models that run on
the worker.

Models behind an API are not asked from here: they have a budget, which a single process must keep.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from rag_assets.core.errors import MissingModel
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread, Workforce, demanded, within
from rag_assets.search.embedding.base import Embedder, Vectors
from rag_assets.search.embedding.missing_vectors import Batch, Embed, EncodeTokens
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.embedding.token_store import StoredTokens
from rag_assets.search.embedding.token_vectors import LocalTokenEncoder, open_token_encoder

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
