"""The text of a table's cell or caption that was written in LaTeX, as one plain line.

No command is run: markup is taken off, a known symbol becomes its character, and an unknown command leaves its
argument.
"""

import re

from rag_assets.parsing.conventions.superscripts import lowered, raised

_CURRENCY = "\ue000"
"""Stands for an escaped dollar sign while those around formulas are removed."""
_ESCAPED = {r"\$": _CURRENCY, r"\%": "%", r"\&": "&", r"\#": "#", r"\_": "\ue001", r"\{": "(", r"\}": ")"}
_UNDERSCORE = "\ue001"
_SYMBOLS = {
    "times": "×", "pm": "±", "mp": "∓", "div": "÷", "cdot": "·", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥",
    "neq": "≠", "ne": "≠", "approx": "≈", "sim": "~", "infty": "∞", "rightarrow": "→", "to": "→", "leftarrow": "←",
    "uparrow": "↑", "downarrow": "↓", "circ": "°", "degree": "°", "dagger": "†", "ddagger": "‡", "bullet": "•",
    "square": "□", "checkmark": "✓", "ldots": "…", "dots": "…", "cdots": "…", "sum": "∑", "mid": "|",
    "textless": "<", "textgreater": ">", "textdollar": "$", "textendash": "–", "textemdash": "—", "textbar": "|",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π",
    "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Omega": "Ω",
}  # fmt: skip
_ESCAPE = re.compile(r"\\[$%&#_{}]")
_SYMBOL = re.compile(r"\\([a-zA-Z]{1,20})(?![a-zA-Z])")
_SPACE = re.compile(r"\\\\(?:\[[^\]]{0,9}\])?|\\[,;: !]|~|(?<!\\)&")
"""Blanks, and the ends of rows and cells of what is nested in a cell."""
_EDGE = re.compile(r"\\(?:begin|end)\s?\{[a-zA-Z*]{1,20}\}(?:\[[^\]]{0,9}\])?(?:\{[^{}]{0,60}\})?")
_WITHOUT_TEXT = re.compile(r"\\(?:(?:row|cell|column)?color|label|[vh]space\*?)(?:\[[^\]]{0,20}\])?\{[^{}]{0,60}\}")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]{0,80})\}\s?\{([^{}]{0,80})\}")
_ARGUMENT = re.compile(r"\\[a-zA-Z]{1,20}\*?\s?\{([^{}]{0,400})\}")
_COMMAND = re.compile(r"\\[a-zA-Z]{1,20}\*?\s?|\\[()]|[{}$]")
_BOLD = re.compile(r"(?<![^\s(])\*\*(?=[^\s*])([^*]{1,400})\*\*(?![*\w])")
"""Programs that write Markdown mark a bold cell as Markdown does; "0.31**" is a significant number."""
_RAISED = re.compile(r"(\{\s?\}\s?)?\s?\^\s?(?:\{([^{}]{0,60})\}|(\S))")
_LOWERED = re.compile(r"\s?_\s?(?:\{([^{}]{0,60})\}|(\S))")
_EXPONENT = re.compile(r"[-+−=\d]+")
_MOST_NESTED = 8


def plain_latex(text: str) -> str:
    """`text` without markup; the mark of a footnote stays, behind a space."""
    text = _ESCAPE.sub(lambda found: _ESCAPED[found[0]], text)
    text = _SPACE.sub(" ", _WITHOUT_TEXT.sub(" ", _EDGE.sub(" ", text)))
    text = _SYMBOL.sub(_symbol, text)
    for _ in range(_MOST_NESTED):
        text, n_fractions = _FRACTION.subn(r" \1/\2 ", text)
        text, n_arguments = _ARGUMENT.subn(r" \1 ", text)
        if not n_fractions + n_arguments:
            break
    text = _LOWERED.sub(_lowered, _RAISED.sub(_raised, text))
    text = _BOLD.sub(r"\1", _COMMAND.sub("", text)).replace(_CURRENCY, "$").replace(_UNDERSCORE, "_")
    return " ".join(text.split()).replace("( ", "(").replace(" )", ")").replace(" %", "%").replace(" °", "°")


def _symbol(command: re.Match[str]) -> str:
    return _SYMBOLS.get(command[1], command[0])


def _raised(mark: re.Match[str]) -> str:
    """A number raised above what it follows, or the mark of a footnote: "${ }^{(a)}$"."""
    content = " ".join((mark[2] or mark[3] or "").split())
    if content in ("°", "*", "†", "‡", "%", "'"):
        return content
    if not mark[1] and _EXPONENT.fullmatch(content):
        return raised(content)
    is_mark = mark[1] is not None or content.startswith(("(", "["))
    return f" {content}" if is_mark else f"^{content}"


def _lowered(mark: re.Match[str]) -> str:
    content = " ".join((mark[1] or mark[2] or "").split())
    return lowered(content) if content.isdigit() else f"_{content}"
