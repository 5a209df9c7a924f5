"""Writes the table of settings into docs/settings.md: python -m rag_assets_tests.settings_table"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic.fields import FieldInfo

from rag_assets.core.settings import Settings, StageSettings

SETTINGS_PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
_PLACE = re.compile(r"(<!-- settings: .*? -->\n).*?(<!-- end of settings -->)", re.DOTALL)


def settings_table() -> str:
    """One row a setting, with its default and description."""
    rows = ["| setting | default | meaning |", "|---|---|---|", *_rows("", Settings.model_fields)]
    return "\n".join(rows) + "\n"


def _rows(prefix: str, fields: Mapping[str, FieldInfo]) -> Iterator[str]:
    for name, field in fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, StageSettings):
            yield from _rows(f"{prefix}{name}.", _with_defaults_of(field, group))
        else:
            yield _row(f"{prefix}{name}", field)


def _with_defaults_of(field: FieldInfo, group: type[StageSettings]) -> dict[str, FieldInfo]:
    """The group's fields with the defaults this place gives them: Ollama is asked more slowly than
    the others."""
    return {
        name: FieldInfo.merge_field_infos(item, default=getattr(field.default, name))
        for name, item in group.model_fields.items()
    }


def with_table(page: str) -> str:
    """The page with the table put in its place."""
    return _PLACE.sub(lambda found: f"{found[1]}\n{settings_table()}\n{found[2]}", page)


def _row(name: str, field: FieldInfo) -> str:
    default = "" if field.default is None else str(field.default)
    if isinstance(field.default, tuple):
        default = ", ".join(map(str, field.default))
    return f"| `{name}` | {f'`{default}`' if default else ''} | {field.description or 'Smallest accepted value.'} |"


if __name__ == "__main__":
    SETTINGS_PAGE.write_text(with_table(SETTINGS_PAGE.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"wrote {SETTINGS_PAGE.name}\n")
