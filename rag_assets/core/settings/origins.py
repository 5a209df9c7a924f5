"""Where the addresses were written that papers, questions and keys are sent to.

The working folder may be anybody's. So an address of a `.env` or a `rag_assets.toml` in it gets no
key of the user's environment, and it is told before anything is sent there. A file that
RAG_ASSETS_CONFIG names counts as the environment.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic_settings import EnvSettingsSource

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings.tree import (
    CONFIG_FILE,
    CONFIG_FILE_VARIABLE,
    DOTENV_FILE,
    OwnDotEnv,
    OwnToml,
    Settings,
    environment,
    variable_of,
    written_in_dotenv,
)

logger = logging.getLogger(__name__)


def tell_origin(name: str, value: Any) -> None:
    """Warn, once in a process, if a file of the working folder gives `name` this value. name: a
    setting with an address, or an environment variable."""
    if file := _file_naming(name, value):
        _warn(file, name, _without_password(value))


def key_for(name: str, address: str, key_variables: Sequence[str]) -> str:
    """The key that may be sent to `address`, the first that is set; "" if there is none.

    name: as for `tell_origin`. Raises InvalidSettings if the address is from the working folder and
    the only key is from the environment.
    """
    file = _file_naming(name, address)
    found = _first(key_variables, written_in_dotenv() if file else environment())
    if file and not found and _first(key_variables, os.environ):
        raise InvalidSettings(
            f"{file} sets {name} to {_without_password(address)}, but {' or '.join(key_variables)} is in the environment. "
            "Nothing was sent: a key goes only to an address from the same place. If you trust the address, set "
            f"{variable_of(name)} in the environment as well, or write the key for it into {DOTENV_FILE.absolute()}; if "
            "not, delete it from the file."
        )
    tell_origin(name, address)
    return found


def _first(names: Sequence[str], variables: Mapping[str, str]) -> str:
    return next(filter(None, (variables.get(name, "").strip() for name in names)), "")


def _file_naming(name: str, value: Any) -> Path | None:
    """The file of the working folder that gives `name` this value, unless the environment gives
    the same."""
    toml = {} if CONFIG_FILE_VARIABLE in os.environ else OwnToml(Settings, Path(CONFIG_FILE))()
    dotenv = OwnDotEnv.here(Settings)()
    given = {
        None: {**os.environ, **EnvSettingsSource(Settings)()},
        DOTENV_FILE: {**written_in_dotenv(), **dotenv},
        Path(CONFIG_FILE): toml,
    }
    for file, values in given.items():
        if value and reduce(_below, name.split("."), values) == value:
            return file and file.absolute()
    return None


def _below(values: Any, part: str) -> Any:
    return values.get(part) if isinstance(values, Mapping) else None


def _without_password(value: Any) -> str:
    """For messages."""
    text = value if isinstance(value, str) else " ".join(value)
    return urlsplit(text).netloc.rpartition("@")[2] or text


@cache
def _warn(file: Path, name: str, where: str) -> None:
    logger.warning("%s sets %s: data is sent to %s.", file, name, where)
