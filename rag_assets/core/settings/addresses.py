"""Addresses that papers, questions and keys are sent to: what one is, and where it was written.

The working folder may be anybody's. So an address of a `.env` or a `rag_assets.toml` in it is told
before it is used, and gets no key of the user's environment. A file that RAG_ASSETS_CONFIG names
counts as the environment.

An address has a name: that of a setting, or of an environment variable.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
    ENCODING,
    OwnDotEnv,
    OwnToml,
    Settings,
    environment,
)

_warn_once = cache(logging.getLogger(__name__).warning)
"""Once in a process for each text."""


def host_of(name: str, address: str) -> str:
    """The host of an address. Raises InvalidSettings unless it is http or https, in ASCII; and for
    a password in a setting, since the history of runs shows it."""
    with suppress(ValueError):
        parts = urlsplit(address)
        is_web = parts.scheme in {"http", "https"} and parts.port != 0 and address.isascii()
        if is_web and parts.hostname and (name.isupper() or "@" not in parts.netloc):
            return parts.hostname
    raise InvalidSettings(
        f"{name} is not an address. Write it as http://host:port or https://host, with a path if the server needs one, "
        "and no password in a setting."
    )


def value_at(name: str, values: Mapping[str, Any]) -> Any:
    """The value of the setting `name` in groups of settings; {} if there is none."""
    return reduce(lambda group, part: group.get(part, {}), name.split("."), values)


def tell_origin(name: str, value: Any) -> Path | str:
    """Warn of a file of the working folder that gives `name` this value, and return it; "" if none
    does.

    The environment confirms a `rag_assets.toml`, not a `.env`: Dagster, which starts the code of its
    UI, puts each line of a `.env` into the environment.
    """
    dotenv = OwnDotEnv(Settings, DOTENV_FILE, ENCODING)()
    toml = None if CONFIG_FILE_VARIABLE in os.environ else Path(CONFIG_FILE)
    for file, values in (
        (DOTENV_FILE, {name: environment({}).get(name), **dotenv}),
        ("", EnvSettingsSource(Settings)()),
        (CONFIG_FILE, OwnToml(Settings, toml)()),
    ):
        if value and value_at(name, values) == value:
            where = file and Path(file).absolute()
            if where:
                _warn_once(f"{where} sets {name} to {_shown(value)}. Delete it if it is not yours.")
            return where
    return ""


def key_for(name: str, address: str, key_variables: Sequence[str]) -> str:
    """The key that may be sent to an address, the first that is set; "" if there is none.

    Raises InvalidSettings if the address is from the working folder and the only key is from the
    environment.
    """
    file, known = tell_origin(name, address), environment()
    allowed = environment({}) if file else known
    key = next(filter(None, (allowed.get(one, "").strip() for one in key_variables)), "")
    if file and not key and any(map(known.get, key_variables)):
        raise InvalidSettings(
            f"{file} sets {name} to {_shown(address)}, and {' or '.join(key_variables)} is in the environment. Nothing "
            "was sent: a key goes only to an address from the same place. If you trust the address, "
            f"write the key for it into {DOTENV_FILE.absolute()}, or move the address to the environment; if not, delete it."
        )
    return key


def _shown(value: Any) -> str:
    """Without a password, for messages."""
    return urlsplit(str(value)).netloc.rpartition("@")[2] or str(value)
