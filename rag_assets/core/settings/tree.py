"""All settings in one tree, and how it is read.

Precedence, lowest first: the defaults of `stages`, `rag_assets.toml`, the environment and `.env`
(`RAG_ASSETS_CHUNKING__MAX_TOKENS=1100`), the Dagster launchpad. Data only: nothing here builds,
opens or reads anything but the settings themselves.
"""

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import reduce
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings.operation import (
    AutomationSettings,
    ExecutionSettings,
    ModelAccessSettings,
    ServerSettings,
)
from rag_assets.core.settings.paths import Paths
from rag_assets.core.settings.stages import (
    AnsweringSettings,
    ChunkingSettings,
    EmbeddingSettings,
    EnrichmentSettings,
    EvaluationSettings,
    IndexingSettings,
    ParsingSettings,
    PassageSettings,
    RetrievalSettings,
    SummarySettings,
)

ENV_PREFIX = "RAG_ASSETS_"
DATA_DIR_VARIABLE = f"{ENV_PREFIX}DATA_DIR"
CONFIG_FILE = "rag_assets.toml"
CONFIG_FILE_VARIABLE = f"{ENV_PREFIX}CONFIG"
ANSWER_MODEL_VARIABLE = f"{ENV_PREFIX}ANSWER_MODEL"
SERVER_TOKEN_VARIABLE = f"{ENV_PREFIX}SERVER_TOKEN"
"""Holds what clients of the HTTP server must show; a secret, so no setting."""
EMBEDDING_VARIABLES = ("EMBED_PROVIDER", "EMBED_MODEL")
DOTENV_FILE = Path(".env")
ENCODING = "utf-8-sig"
"""UTF-8, with a byte order mark or without."""
REMOVED = frozenset(
    """answering.max_withheld_share answering.thorough.max_tokens answering.thorough.max_usd
    chunking.context_tokens evaluation.k evaluation.max_drop model_access.anthropic
    model_access.google model_access.ollama model_access.openai paper_summaries parsing.docling
    parsing.limits.max_depth parsing.running_header_share parsing.services parsing.tables reading
    retrieval.queries.model server.max_body_kb server.max_waiting server.receive_timeout_s server.same_question_above
    server.uploads_per_minute""".split()
)
"""Settings and groups that are no settings any more."""


class ShortNames(PydanticBaseSettingsSource):
    """Settings with a short name in the environment or `.env`; the full names win over them."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - not used
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        variables = environment()
        if model := variables.get(ANSWER_MODEL_VARIABLE):
            values["answering"] = {"model": model}
        provider, embedder = (variables.get(name) for name in EMBEDDING_VARIABLES)
        if bool(provider) != bool(embedder):
            raise InvalidSettings(
                f"Set both {' and '.join(EMBEDDING_VARIABLES)}, or neither (environment or .env)."
            )
        if provider:
            values["embedding"] = {"model": f"{provider}:{embedder}"}
        return values


def environment(over: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of `.env` and, over them, those of the environment; `.env` alone, if nothing is
    over it. A key is looked up by `addresses.key_for`.

    Nothing of `.env` is put into the environment: other code of the process does not see it. Raises
    InvalidSettings when it is not text.
    """
    try:
        written = dotenv_values(DOTENV_FILE, encoding=ENCODING) if DOTENV_FILE.is_file() else {}
    except UnicodeDecodeError:
        raise not_utf8(DOTENV_FILE) from None  # the original holds the whole file, keys included
    return {name: value for name, value in [*written.items(), *over.items()] if value}


def not_utf8(path: Path) -> InvalidSettings:
    """The error for a file that an editor saved in another encoding."""
    return InvalidSettings(
        f"{path} is not UTF-8 text. Save it again as UTF-8; most editors offer it under Save as."
    )


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


class OwnToml(TomlConfigSettingsSource):
    """The settings file, which some editors begin with a byte order mark."""

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        return tomllib.loads(file_path.read_text(ENCODING))


class Settings(BaseSettings):
    """The whole tree."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    data_dir: Path = Field(
        Path("data"), description="The data folder; relative to the working folder."
    )
    paper_list: Path | None = Field(
        None,
        description="Names the papers instead of a sweep of data/papers: a parquet file with paper_id, "
        "parsed_xml_path, parsed_txt_path (relative paths count from its folder), or a .bib file with attachments. "
        "Empty: data/papers/parsed_index.parquet if there is one.",
    )
    questions: Path | None = Field(
        None,
        description="The question file, answered in data/output/qa.jsonl and evaluated; default "
        "data/questions/smoke.jsonl.",
    )
    parsing: ParsingSettings = ParsingSettings()
    enrichment: EnrichmentSettings = EnrichmentSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    summaries: SummarySettings = SummarySettings()
    passages: PassageSettings = PassageSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    indexing: IndexingSettings = IndexingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    answering: AnsweringSettings = AnsweringSettings()
    model_access: ModelAccessSettings = ModelAccessSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    automation: AutomationSettings = AutomationSettings()
    execution: ExecutionSettings = ExecutionSettings()
    server: ServerSettings = ServerSettings()

    @property
    def paths(self) -> Paths:
        return Paths(self.data_dir)

    @property
    def paper_list_file(self) -> Path | None:
        """The setting `paper_list`; None when that is the place of the published index."""
        named = self.paper_list
        return None if named and named.absolute() == self.paths.parsed_index.absolute() else named

    @property
    def question_file(self) -> Path:
        return self.questions or self.paths.questions / "smoke.jsonl"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced below
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - named by pydantic-settings
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        toml = OwnToml(settings_cls, Path(os.environ.get(CONFIG_FILE_VARIABLE, CONFIG_FILE)))
        dotenv = OwnDotEnv(settings_cls, DOTENV_FILE, ENCODING)
        return init_settings, env_settings, dotenv, ShortNames(settings_cls), toml


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings; `overrides` (the launchpad, command line options) win over everything.

    Raises InvalidSettings with one line per wrong setting.
    """
    if unknown := _unknown_variables():
        if gone := [name for name in unknown if _group_of(name) in REMOVED]:
            raise InvalidSettings(
                f"The environment or .env sets {gone[0]}, which is no setting any more; delete it."
            )
        known = [ANSWER_MODEL_VARIABLE, *(_variable(name) for name in Settings.model_fields)]
        raise InvalidSettings(
            f"The environment or .env sets {', '.join(unknown)}, which name no setting. Known: {', '.join(known)} "
            "(and __FIELD behind a group)."
        )
    config = os.environ.get(CONFIG_FILE_VARIABLE)
    if config and not Path(config).is_file():
        raise InvalidSettings(
            f"{CONFIG_FILE_VARIABLE} names {config}, which is not a file. Correct it or unset it."
        )
    try:
        return Settings(**dict(overrides or {}))
    except UnicodeDecodeError:
        raise not_utf8(Path(config or CONFIG_FILE)) from None
    except (SettingsError, tomllib.TOMLDecodeError) as error:
        raise InvalidSettings(
            f"Settings cannot be read: {error}. Look into {config or CONFIG_FILE}, the environment and .env; a list "
            "or a group in the environment is written as JSON."
        ) from error
    except ValidationError as error:
        problems = [
            _problem(".".join(map(str, item["loc"])), item["type"], item["msg"])
            for item in error.errors()
        ]
        raise InvalidSettings(
            "Settings cannot be used (rag_assets.toml, environment, .env or launchpad):\n  "
            + "\n  ".join(problems)
        ) from error


def _problem(setting: str, kind: str, message: str) -> str:
    if kind != "extra_forbidden":
        return f"{setting}: {message}"
    if setting in REMOVED:
        return f"{setting}: is no setting any more; delete it"
    known = setting_names(Settings)
    if setting in known:
        nested = reduce(
            lambda inner, name: f'{{"{name}": {inner}}}', reversed(setting.split(".")), "..."
        )
        return f"{setting}: write it as {nested}"
    alike = get_close_matches(setting, known, n=1)
    return f"{setting}: there is no such setting" + (f"; is {alike[0]} meant?" if alike else "")


def setting_names(group: type[BaseModel], above: str = "") -> list[str]:
    """The settings of a group and of the groups in it, by their dotted names."""
    names = []
    for name, field in group.model_fields.items():
        below: Any = field.annotation
        is_group = isinstance(below, type) and issubclass(below, BaseModel)
        names += setting_names(below, f"{above}{name}.") if is_group else [above + name]
    return names


def _unknown_variables() -> list[str]:
    """Variables with our prefix that pydantic-settings would pass over in silence, or call by
    another name."""
    known = {name.upper() for name in Settings.model_fields}
    return sorted(
        name
        for name in environment()
        if name.startswith(ENV_PREFIX)
        and name not in {CONFIG_FILE_VARIABLE, ANSWER_MODEL_VARIABLE, SERVER_TOKEN_VARIABLE}
        and _group_of(name).upper() not in known
    )


def _group_of(variable: str) -> str:
    """The setting, or the group of settings, that an environment variable is about."""
    return variable.removeprefix(ENV_PREFIX).partition("__")[0].lower()


def _variable(setting: str) -> str:
    """The environment variable of a setting: chunking.max_tokens is
    RAG_ASSETS_CHUNKING__MAX_TOKENS."""
    return ENV_PREFIX + setting.upper().replace(".", "__")
