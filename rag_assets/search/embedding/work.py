"""What a worker does with texts: it counts their tokens, or makes vectors with a model that runs
there.

Models behind an API have a budget, which one process keeps: they are never asked from here.
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


def counting(
    settings: EmbeddingSettings, models_folder: Path
) -> Callable[[Sequence[str]], list[int]]:
    """`count_tokens` of the model that the settings name, as a function that can be pickled."""
    return partial(_count_tokens, settings=settings.model_dump_json(), models_folder=models_folder)


def embedding_in(
    workforce: Workforce,
    settings: EmbeddingSettings,
    own_models: Path,
    identity: str,
    paper_of: Mapping[str, str],
) -> Embed:
    """Vectors of passages by the model that the settings name; see `by_paper_if_lost`. own_models:
    folder of models of this machine. identity: of the model here; a worker that has other files of
    it raises MissingModel."""
    models = workforce.models_folder(own_models)
    work = partial(
        _vectors, settings=settings.model_dump_json(), models_folder=models, identity=identity
    )
    return partial(by_paper_if_lost, _unlimited(workforce), work, paper_of)


def encoding_in(
    workforce: Workforce, settings: EmbeddingSettings, own_models: Path, paper_of: Mapping[str, str]
) -> EncodeTokens:
    """Vectors and token vectors of passages by the packaged model; see `by_paper_if_lost`."""
    models = workforce.models_folder(own_models)
    work = partial(_tokens, settings=settings.model_dump_json(), models_folder=models)
    return partial(by_paper_if_lost, _unlimited(workforce), work, paper_of)


def by_paper_if_lost(
    spread: Spread,
    work: Callable[[Batch], Result],
    paper_of: Mapping[str, str],
    batches: Iterable[Batch],
) -> Generator[tuple[Batch, Result | Failure]]:
    """`work` of batches of texts. The texts of a batch that is lost are tried once more, paper by
    paper, so that one paper costs no other its vectors. paper_of: paper by text.

    Raises WorkLost when `_MOST_LOST` in a row are lost: then the machine is at fault, and not the
    papers.
    """
    again: list[Batch] = []
    n_lost = 0
    for some in (batches, again):
        with closing(spread(work, some)) as results:
            for batch, made in results:
                is_lost = isinstance(made, Failure) and not made.raised
                n_lost = n_lost + 1 if is_lost else 0
                if n_lost == _MOST_LOST:
                    demanded(made)
                papers = {paper_of[text] for text in batch}
                if is_lost and len(papers) > 1:
                    again += [
                        [text for text in batch if paper_of[text] == paper]
                        for paper in sorted(papers)
                    ]
                else:
                    yield batch, made


def _unlimited(workforce: Workforce) -> Spread:
    """A large model may take long for a batch; no text makes it take much longer than another."""
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
