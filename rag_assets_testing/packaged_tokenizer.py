"""The packaged tokenizer, in the files that fastembed reads beside a model."""

import json
import shutil
from pathlib import Path

from rag_assets.core.text.tokens import packaged_model_folder


def write_tokenizer(folder: Path, *, max_tokens: int) -> None:
    """Without its fixed padding. max_tokens: what fastembed cuts texts at, special tokens
    included."""
    source = packaged_model_folder()
    tokenizer = json.loads((source / "tokenizer.json").read_text("utf-8")) | {
        "padding": None,
        "truncation": None,
    }
    config = json.loads((source / "tokenizer_config.json").read_text("utf-8")) | {
        "model_max_length": max_tokens
    }
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config)):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    for name in ("config.json", "special_tokens_map.json"):
        shutil.copyfile(source / name, folder / name)
