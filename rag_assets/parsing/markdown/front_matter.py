"""The front matter of a Markdown file: YAML between `---` or TOML between `+++`; only its title is read.

It is no text of the paper. A YAML parser is not used: one field is wanted, and what people write there is often no
valid YAML (a colon in an unquoted title).
"""

import re

_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\+\+\+[ \t]*\n.*?\n\+\+\+[ \t]*(?:\n|\Z))", re.DOTALL
)
_TITLE = re.compile(r"^[\"']?title[\"']?[ \t]*[:=][ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE | re.IGNORECASE)
"""The value and the indented lines that go on with it."""
_BLOCK_MARK = re.compile(r"\A[|>][+-]?\d?[ \t]*(?=\n)")
_QUOTED = re.compile(r"\A([\"'])(.*)\1(?:\s+#.*)?\Z", re.DOTALL)
_COMMENT = re.compile(r"\s#.*")


def split_front_matter(text: str) -> tuple[str, str]:
    """The front matter, empty where there is none, and the text below it."""
    match = _FRONT_MATTER.match(text)
    return (match[0], text[match.end() :]) if match else ("", text)


def stated_title(front_matter: str) -> str:
    """The title it states on one line, without quotes; empty where it states none."""
    match = _TITLE.search(front_matter)
    if match is None:
        return ""
    value = " ".join(_BLOCK_MARK.sub("", match[1]).split())
    if quoted := _QUOTED.match(value):
        quote, inner = quoted.groups()
        return inner.replace("''", "'") if quote == "'" else inner.replace('\\"', '"')
    return _COMMENT.sub("", value).strip()
