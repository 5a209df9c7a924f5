"""The rerankers, and which of them a setting `provider:model` means."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rag_assets.core.errors import InvalidSettings
from rag_assets.search.embedding.token_vectors import PassageTokens
from rag_assets.search.reranking.base import Reranker
from rag_assets.search.reranking.cross_encoder import (
    CrossEncoder,
    files_of_folder,
    files_of_hub,
)
from rag_assets.search.reranking.late_interaction import LateInteraction

NO_RERANKER = "none"


@dataclass(frozen=True)
class RerankerResources:
    """What a reranker may use."""

    tokens: PassageTokens
    models_folder: Path
    n_threads: int


def open_reranker(name: str, resources: RerankerResources) -> Reranker | None:
    """The reranker that the setting names; None for "none". Opening it is cheap: no model is loaded
    or asked.

    Raises InvalidSettings for an unknown name.
    """
    if name == NO_RERANKER:
        return None
    provider, _, model = name.partition(":")
    if provider not in RERANKERS or not model:
        known = ", ".join(f"{provider}:{names}" for provider, (names, _) in RERANKERS.items())
        raise InvalidSettings(
            f"retrieval.reranker = {name!r} does not exist. It can be: none, {known}."
        )
    return RERANKERS[provider][1](model, resources)


def _local(model: str, resources: RerankerResources) -> Reranker:
    if model != "late-interaction":
        raise InvalidSettings(
            f"retrieval.reranker = 'local:{model}' does not exist. It can be local:late-interaction."
        )
    return LateInteraction(resources.tokens)


RERANKERS: dict[str, tuple[str, Callable[[str, RerankerResources], Reranker]]] = {
    "local": ("late-interaction", _local),
    "fastembed": (
        "<a cross-encoder of fastembed's list, or a repository with onnx/model.onnx>",
        lambda model, resources: CrossEncoder(
            model, partial(files_of_hub, model, resources.models_folder), resources.n_threads
        ),
    ),
    "folder": (
        "<a folder with model.onnx and tokenizer.json>",
        lambda folder, resources: CrossEncoder(
            f"folder/{Path(folder).resolve()}",
            partial(files_of_folder, Path(folder)),
            resources.n_threads,
        ),
    ),
}
"""By provider: which models it has, for messages, and the function that opens one."""
