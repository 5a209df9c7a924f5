"""Where values of settings come from besides `rag_assets.toml`: the environment and `.env`, and their short names."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic.fields import FieldInfo
from pydantic_settings import DotEnvSettingsSource, PydanticBaseSettingsSource

from rag_assets.core.errors import InvalidSettings

ENV_PREFIX = "RAG_ASSETS_"
DATA_DIR_VARIABLE = f"{ENV_PREFIX}DATA_DIR"
CONFIG_FILE = "rag_assets.toml"
CONFIG_FILE_VARIABLE = f"{ENV_PREFIX}CONFIG"
ANSWER_MODEL_VARIABLE = f"{ENV_PREFIX}ANSWER_MODEL"
SERVER_TOKEN_VARIABLE = f"{ENV_PREFIX}SERVER_TOKEN"
"""Holds what clients of the HTTP server must show; a secret, so no setting."""
EMBEDDING_VARIABLES = ("EMBED_PROVIDER", "EMBED_MODEL")
DOTENV_FILE = Path(".env")


class ShortNames(PydanticBaseSettingsSource):
    """Settings with a short name in the environment or `.env`; the full names win over them."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - not used
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        variables = environment()
        if model := variables.get(ANSWER_MODEL_VARIABLE):
            found["answering"] = {"model": model}
        provider, embedder = (variables.get(name) for name in EMBEDDING_VARIABLES)
        if bool(provider) != bool(embedder):
            raise InvalidSettings(f"Set both {' and '.join(EMBEDDING_VARIABLES)}, or neither (environment or .env).")
        if provider:
            found["embedding"] = {"model": f"{provider}:{embedder}"}
        return found


def environment() -> dict[str, str]:
    """The variables of `.env` and, over them, those of the environment; where keys are looked up, too.

    Nothing of `.env` is put into the environment: other code of the process does not see it. Raises
    InvalidSettings when it is not text.
    """
    try:
        written = dotenv_values(DOTENV_FILE) if DOTENV_FILE.is_file() else {}
    except UnicodeDecodeError:
        raise not_utf8(DOTENV_FILE) from None  # the original holds the whole file, keys included
    return {name: value for name, value in [*written.items(), *os.environ.items()] if value}


def not_utf8(path: Path) -> InvalidSettings:
    """The error for a file that an editor saved in another encoding."""
    return InvalidSettings(f"{path} is not UTF-8 text. Save it again as UTF-8; most editors offer it under Save as.")


class OwnDotEnv(DotEnvSettingsSource):
    """The lines of `.env` that are ours: users keep their API keys in the same file."""

    def _read_env_files(self) -> Mapping[str, str | None]:
        prefix = self.env_prefix.lower()
        not_fields = {ANSWER_MODEL_VARIABLE.lower(), SERVER_TOKEN_VARIABLE.lower()}
        return {
            name: value
            for name, value in super()._read_env_files().items()
            if name.lower().startswith(prefix) and name.lower() not in not_fields
        }
