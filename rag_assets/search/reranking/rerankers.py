"""The rerankers, and which of them a setting `provider:model` means.

Late interaction compares the meaning of each word of the question with each word of the passage.
Its token vectors are made by the packaged embedding model, so no other model is needed. Source of
the comparison (MaxSim): Khattab and Zaharia 2020, "ColBERT: Efficient and Effective Passage Search
via Contextualized Late Interaction over BERT". Two things are different here. MaxSim is computed
for the best stretch of the passage, since an answer is in one place. And words that both texts
share count in addition to similar meanings.

Cross-encoders read question and passage together; fastembed runs them with ONNX. A model of
fastembed's list is downloaded once into the models folder, and so is any other repository of the
hub that has `onnx/model.onnx`. A model in a folder needs no download.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.core.errors import InvalidSettings, MissingModel, RerankingTooSlow
from rag_assets.core.incremental import file_sha256, fingerprint
from rag_assets.search.embedding.base import Vectors, slug
from rag_assets.search.embedding.fastembed_model import described as of_fastembed
from rag_assets.search.embedding.fastembed_model import fetched, loaded
from rag_assets.search.embedding.local_model import TokenScale
from rag_assets.search.embedding.token_vectors import PassageTokens
from rag_assets.search.indexing.tantivy_index import Analyser
from rag_assets.search.reranking.base import (
    TIMEOUT_S,
    FoundPassage,
    Judgement,
    Reranker,
    Scores,
    described,
    stretched,
)

if TYPE_CHECKING:
    from fastembed.common.model_description import BaseModelDescription
    from fastembed.rerank.cross_encoder import TextCrossEncoder

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


MODEL_FILE = "onnx/model.onnx"
_FILES = ("*.onnx", "*.onnx_data", "*.json")


ModelFiles = tuple[Path, str]
"""A folder with an ONNX model and its tokenizer, and the path of the model within it."""


def files_of_hub(name: str, models_folder: Path) -> ModelFiles:
    """Files of a model of fastembed's list, or of any repository of the hub that has
    `onnx/model.onnx`; they are downloaded first if necessary. Raises MissingModel."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    description = known_to_fastembed(name, MODEL_FILE)
    instead = (
        "name a folder that has it (folder:PATH), or set retrieval.reranker to "
        "local:late-interaction."
    )
    folder = fetched(TextCrossEncoder.download_model, description, name, models_folder, instead)
    return folder, description.model_file


def files_of_folder(folder: Path) -> ModelFiles:
    """A folder of the user: `model.onnx` in it or in its folder `onnx/`, and the tokenizer. Raises
    MissingModel."""
    for model_file in (MODEL_FILE, "model.onnx"):
        if (folder / model_file).is_file():
            return folder, model_file
    raise MissingModel(
        f"retrieval.reranker names {folder}, which holds neither model.onnx nor {MODEL_FILE}."
    )


def known_to_fastembed(name: str, model_file: str) -> "BaseModelDescription":
    """fastembed's description of the model. A model that is not in fastembed's list is added to it
    first."""
    from fastembed.common.model_description import BaseModelDescription, ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    with _REGISTERING:
        descriptions = {
            model["model"].lower(): model for model in TextCrossEncoder.list_supported_models()
        }
        if name.lower() not in descriptions:
            TextCrossEncoder.add_custom_model(
                name, sources=ModelSource(hf=name), model_file=model_file
            )
            return BaseModelDescription(name, ModelSource(hf=name), model_file, "", "", 0.0)
    return of_fastembed(BaseModelDescription, descriptions[name.lower()])


_REGISTERING = Lock()
"""fastembed has one list per process, and adding a model twice is an error."""


BATCH = 8
"""Pairs read at a time. A batch takes as long as its longest pair, and the time limit is checked
between batches."""


class CrossEncoder:
    """A Reranker with the model in a folder. The model is loaded for the first question."""

    def __init__(
        self,
        name: str,
        find_files: Callable[[], ModelFiles],
        n_threads: int,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """find_files: called once, when they are needed; raises MissingModel. timeout_s: most
        seconds for one question; loading is not counted."""
        self._name = name
        self._find_files = find_files
        self._n_threads = n_threads
        self._timeout_s = timeout_s

    @cached_property
    def _files(self) -> ModelFiles:
        return self._find_files()

    @cached_property
    def identity(self) -> str:
        """Contains a hash of the model's files. Raises MissingModel if they are not available."""
        folder, _ = self._files
        files = sorted({path for pattern in _FILES for path in folder.rglob(pattern)})
        content = fingerprint({str(path.relative_to(folder)): file_sha256(path) for path in files})
        return f"cross-encoder-{slug(self._name)}-{content[:12]}"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        texts = [described(candidate.passage) for candidate in candidates]
        deadline = time.monotonic() + self._timeout_s
        logits: list[float] = []
        for start in range(0, len(texts), BATCH):
            logits += self._logits(question, texts[start : start + BATCH])
            if time.monotonic() > deadline:
                raise RerankingTooSlow.after(self._timeout_s, model=self._name)
        scores = sigmoid(np.array(logits, np.float64))
        return Judgement(scores, scores)

    def _logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number per text; higher means more relevant. Raises MissingModel if the model gives
        something else."""
        model = self._model
        try:
            logits = [float(logit) for logit in model.rerank(question, texts, batch_size=BATCH)]
        except Exception as error:  # a model of another kind fails here, with any error
            raise MissingModel(
                f"{self._name} is no cross-encoder ({type(error).__name__}: {error})."
            ) from error
        if len(logits) != len(texts) or not np.isfinite(logits).all():
            raise MissingModel(
                f"{self._name} is no cross-encoder: it gives scores that are no numbers."
            )
        return logits

    @cached_property
    def _model(self) -> "TextCrossEncoder":
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        folder, model_file = self._files
        known_to_fastembed(self._name, model_file)
        remedy = "It needs an ONNX model, tokenizer.json and tokenizer_config.json."
        return loaded(TextCrossEncoder, self._name, folder, self._n_threads, "reranker", remedy)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Turns each logit into a number from 0 to 1. Cross-encoders are trained so that it is the
    probability of being relevant."""
    return np.array(
        [1 / (1 + math.exp(-max(-700.0, min(700.0, logit)))) for logit in logits], np.float64
    )


_WINDOW = 25
"""Number of terms in a window; about the length of a long sentence."""


class SharedWords:
    """Compares words as terms of the word index: stemmed, without stop words, with the parts of
    hyphenated words."""

    @cached_property
    def _analyser(self) -> Analyser:
        return Analyser()

    def shares(self, question: str, texts: Sequence[str]) -> Scores:
        """For each text, the largest share of the question's terms that it has within 25 terms;
        shape (n,), 0 to 1.

        Terms that are rare among `texts` count more. All shares are 0 if the question has no terms.
        """
        question_terms = set(self._analyser.terms(question))
        terms_by_text = [self._analyser.terms(text) for text in texts]
        weights = _rarity(question_terms, terms_by_text)
        total = sum(weights.values())
        if total <= 0:
            return np.zeros(len(texts))
        return np.array(
            [_best_window(text_terms, weights) / total for text_terms in terms_by_text], np.float64
        )


def _rarity(question_terms: set[str], texts: Sequence[Sequence[str]]) -> dict[str, float]:
    """For each term of the question, its inverse document frequency among the texts, as in BM25
    (Robertson and Spaerck Jones)."""
    n_texts = len(texts)
    n_texts_with = Counter(term for terms in texts for term in question_terms.intersection(terms))
    return {
        term: math.log(1 + (n_texts - n_texts_with[term] + 0.5) / (n_texts_with[term] + 0.5))
        for term in sorted(question_terms)
    }


def _best_window(terms: Sequence[str], weights: Mapping[str, float]) -> float:
    """The largest sum of weights of different terms within `_WINDOW` consecutive terms."""
    weighted = [(index, term) for index, term in enumerate(terms) if term in weights]
    best = 0.0
    for number, (start, _) in enumerate(weighted):
        window_terms = {term for index, term in weighted[number:] if index < start + _WINDOW}
        best = max(best, sum(weights[term] for term in sorted(window_terms)))
    return best


LATE_INTERACTION_VERSION = 2
"""Part of the identity: raise it if the same vectors get other scores."""
_BLOCK = 8
_BLOCKS_OF_STRETCH = 3
"""A stretch is three consecutive blocks of eight tokens."""


class LateInteraction:
    """A Reranker that compares token vectors and words."""

    def __init__(self, tokens: PassageTokens) -> None:
        self._tokens = tokens
        self._words = SharedWords()

    @property
    def identity(self) -> str:
        return f"late-interaction-v{LATE_INTERACTION_VERSION}:{self._tokens.identity}"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        (question_tokens,) = self._tokens.of_texts([question])
        passages = [candidate.passage.text for candidate in candidates]
        likeness = np.array(
            [
                best_stretch(question_tokens.vectors, passage_tokens.vectors)
                for passage_tokens in self._tokens.of(passages)
            ]
        )
        shares = self._words.shares(question, passages)
        search_scores = np.array([candidate.score for candidate in candidates], np.float64)
        scale = self._tokens.scale
        scores = (
            scale.search_weight * stretched(search_scores)
            + scale.tokens_weight * stretched(likeness)
            + scale.words_weight * stretched(shares)
        )
        return Judgement(scores, _relevance(likeness, shares, scale))


def best_stretch(question: Vectors, passage: Vectors) -> float:
    """MaxSim of the question and the stretch of about 24 tokens of the passage that is most similar
    to it; -1 to 1.

    question: shape (n, dimension), passage: shape (m, dimension), vectors of length 1. MaxSim is
    the mean, over the tokens of the question, of the best cosine with a token of the stretch. 0 if
    question or passage has no tokens.
    """
    if not len(question) or not len(passage):
        return 0.0
    cosines = question @ passage.T
    blocks = np.maximum.reduceat(cosines, np.arange(0, cosines.shape[1], _BLOCK), axis=1)
    for _ in range(min(_BLOCKS_OF_STRETCH, blocks.shape[1]) - 1):
        # each round, a column covers one block more
        blocks = np.maximum(blocks[:, :-1], blocks[:, 1:])
    return float(blocks.mean(axis=0).max())


def _relevance(likeness: Scores, shared_words: Scores, scale: TokenScale) -> Scores:
    """The estimated probability that each passage answers the question; shape (n,), 0 to 1.

    likeness: from `best_stretch`, shared_words: from `SharedWords.shares`; shape (n,) each.
    """
    logits = (
        scale.constant + scale.likeness_weight * likeness + scale.shared_words_weight * shared_words
    )
    return np.asarray(1 / (1 + np.exp(-logits)), np.float64)
