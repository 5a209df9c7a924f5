"""Where the files of a cross-encoder are: in a folder, or in a repository of fastembed's hub, fetched once.

Knows no text and loads no model: that is done by whoever reads with it (`reranking`, `answering.judges`). fastembed is
imported when something has to be fetched.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from rag_assets.core.errors import MissingModel
from rag_assets.core.incremental import file_sha256, fingerprint

if TYPE_CHECKING:
    from fastembed.common.model_description import BaseModelDescription

MODEL_FILE = "onnx/model.onnx"
_FILES = ("*.onnx", "*.onnx_data", "*.json")


class CrossEncoderFiles(ABC):
    """A folder with an ONNX model and its tokenizer."""

    def __init__(self, name: str, model_file: str) -> None:
        """name: readable. model_file: of the model, below the folder."""
        self.name = name
        self.model_file = model_file

    @property
    @abstractmethod
    def folder(self) -> Path:
        """With the files; fetched first when they are not there. Raises MissingModel."""

    @cached_property
    def content(self) -> str:
        """Hash of the files; raises MissingModel when they cannot be had."""
        files = sorted({path for pattern in _FILES for path in self.folder.rglob(pattern)})
        return fingerprint({str(path.relative_to(self.folder)): file_sha256(path) for path in files})


class HubFiles(CrossEncoderFiles):
    """Of a model of fastembed's list, or of any repository of the hub that holds `onnx/model.onnx`."""

    def __init__(self, name: str, models_folder: Path, instead: str) -> None:
        """instead: what else can be done where the hub is out of reach, after "Connect once, "."""
        super().__init__(name, MODEL_FILE)
        self._models_folder = models_folder
        self._instead = instead

    @cached_property
    def folder(self) -> Path:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        self._models_folder.mkdir(parents=True, exist_ok=True)
        description = known_to_fastembed(self.name, self.model_file)
        self.model_file = description.model_file
        try:
            return TextCrossEncoder.download_model(description, cache_dir=str(self._models_folder))
        except (OSError, ValueError) as error:
            raise MissingModel(
                f"{self.name} is not in {self._models_folder} and cannot be fetched from its hub ({error}). Connect "
                f"once, {self._instead}"
            ) from error


class FolderFiles(CrossEncoderFiles):
    """`model.onnx` in the folder or in `onnx/` below it, and its tokenizer."""

    def __init__(self, folder: Path, setting: str) -> None:
        """setting: the one that names the folder."""
        model_file = MODEL_FILE if (folder / MODEL_FILE).is_file() else "model.onnx"
        super().__init__(f"folder/{folder.resolve()}", model_file)
        self._place = folder
        self._setting = setting

    @cached_property
    def folder(self) -> Path:
        if not (self._place / self.model_file).is_file():
            raise MissingModel(f"{self._setting} names {self._place}, which holds neither model.onnx nor {MODEL_FILE}.")
        return self._place


def known_to_fastembed(name: str, model_file: str) -> "BaseModelDescription":
    """What fastembed knows of the model; made known to it first where it is not in its list."""
    from fastembed.common.model_description import BaseModelDescription, ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    with _REGISTERING:
        known = {model["model"].lower(): model for model in TextCrossEncoder.list_supported_models()}
        if name.lower() not in known:
            TextCrossEncoder.add_custom_model(name, sources=ModelSource(hf=name), model_file=model_file)
            return BaseModelDescription(name, ModelSource(hf=name), model_file, "", "", 0.0)
    model = known[name.lower()]
    return BaseModelDescription(**(model | {"sources": ModelSource(**model["sources"])}))


_REGISTERING = Lock()
"""fastembed's list belongs to the process, and adding to it twice is an error."""
