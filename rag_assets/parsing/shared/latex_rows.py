"""Rows of tables written in LaTeX, as programs that read pages into text write them, as plain text.

The rows stay text: no table with cells is made of them. "A & $12 \\pm 3$ \\\\ \\hline" becomes "A | 12 ± 3".
"""

import re

_ROW = re.compile(
    r"\\(?:begin|end)\s?\{(?:table|tabular|longtable|array)[*x]?\}|\\(?:hline|caption|multicolumn|multirow|(?:top|mid|bottom)rule)"
    r"|(?<!\\)&[^\n]*\\\\"
)
_ARGUMENT = r"\s?\{(?:[^{}]|\{[^{}]{0,40}\}){0,80}\}"
_WITHOUT_TEXT = re.compile(
    rf"\\begin{_ARGUMENT}(?:\[[^\]]{{0,20}}\])?(?:{_ARGUMENT})?|\\multi(?:column|row)(?:\[[^\]]{{0,20}}\])?(?:{_ARGUMENT}){{2}}"
    rf"|\\(?:end|cline|label|(?:row|cell|column)?color|[vh]space\*?){_ARGUMENT}"
)
_ESCAPED = {r"\$": "\ue000", r"\%": "%", r"\&": "\ue001", r"\{": "(", r"\}": ")", r"\_": "_", r"\#": "#"}
"""Escaped signs are text; a private character keeps one from being read as markup."""
_SYMBOLS = {
    "times": "×", "pm": "±", "cdot": "·", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "approx": "≈",
    "sim": "~", "circ": "°", "alpha": "α", "beta": "β", "gamma": "γ", "mu": "μ", "sigma": "σ", "chi": "χ",
}  # fmt: skip
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?")
_LEFT_OVER = re.compile(r"\\[^\w\s]|[{}$\\]")


def plain_rows(text: str) -> list[str] | None:
    """The rows and other lines of `text`, with " | " between cells; None where it holds no table in LaTeX."""
    if not _ROW.search(text):
        return None
    for sign, shown in _ESCAPED.items():
        text = text.replace(sign, shown)
    text = _WITHOUT_TEXT.sub(" ", text).replace("\\\\", "\n").replace("&", " | ")
    text = _COMMAND.sub(lambda command: _SYMBOLS.get(command[1], " "), text)
    text = _LEFT_OVER.sub("", text).replace("\ue000", "$").replace("\ue001", "&")
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return [line for line in lines if line.strip("| ")]
