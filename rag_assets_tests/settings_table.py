"""Writes the table of settings into the README: python -m rag_assets_tests.settings_table"""

import re
import sys
from pathlib import Path

from pydantic.fields import FieldInfo

from rag_assets.settings import Floors, Settings, StageSettings

README = Path(__file__).resolve().parents[1] / "README.md"
_PLACE = re.compile(r"(<!-- settings: .*? -->\n).*?(<!-- end of settings -->)", re.DOTALL)


def settings_table() -> str:
    """One row a setting, with its default and description."""
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, StageSettings):
            rows += [_row(f"{name}.{key}", item) for key, item in group.model_fields.items() if key != "floors"]
        else:
            rows.append(_row(name, field))
    rows += [_row(f"evaluation.floors.{key}", item) for key, item in Floors.model_fields.items()]
    return "\n".join(rows) + "\n"


def with_table(readme: str) -> str:
    """The README with the table put in its place."""
    return _PLACE.sub(lambda found: f"{found[1]}\n{settings_table()}\n{found[2]}", readme)


def _row(name: str, field: FieldInfo) -> str:
    default = "" if field.default is None else str(field.default)
    if isinstance(field.default, tuple):
        default = ", ".join(map(str, field.default))
    return f"| `{name}` | {f'`{default}`' if default else ''} | {field.description or 'Smallest accepted value.'} |"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"wrote {README.name}\n")
