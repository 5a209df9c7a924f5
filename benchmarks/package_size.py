"""Compares the size of the package with the figures in package_size.json, which are kept in the
repository.

    python -m benchmarks.package_size           fails where a figure differs
    python -m benchmarks.package_size --write   keeps today's figures; the commit says why they grew

Tokens are counted, not lines: lines can be packed. Counted are names, operators, numbers and strings
of Python's own tokenizer, and the calls of `re.compile`.
"""

import json
import sys
import tokenize
from collections.abc import Sequence
from pathlib import Path

_KEPT = Path(__file__).with_suffix(".json")
_PACKAGE = _KEPT.parents[1] / "rag_assets"
_COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}


def sizes(package: Path) -> dict[str, int]:
    """Tokens and `re.compile` calls of all modules below a folder."""
    words = [_words(path) for path in package.rglob("*.py")]
    return {
        "tokens": sum(map(len, words)),
        "re.compile": sum(_compiled_patterns(module) for module in words),
    }


def differences(kept: dict[str, int], found: dict[str, int]) -> list[str]:
    """One sentence for each figure that is not the kept one."""
    return [
        f"{name}: {number:,}, kept are {kept[name]:,} ({number - kept[name]:+,})."
        for name, number in found.items()
        if number != kept[name]
    ]


def main(arguments: Sequence[str]) -> int:
    found = sizes(_PACKAGE)
    if "--write" in arguments:
        _KEPT.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
        return 0
    differing = differences(json.loads(_KEPT.read_text("utf-8")), found)
    if differing:
        print(*differing, sep="\n", file=sys.stderr)
        print(
            "The size of the package changed. Run `python -m benchmarks.package_size --write`, and say "
            "in the commit what a growth is for.",
            file=sys.stderr,
        )
    return int(bool(differing))


def _words(path: Path) -> list[str]:
    with path.open("rb") as file:
        return [
            token.string for token in tokenize.tokenize(file.readline) if token.type in _COUNTED
        ]


def _compiled_patterns(words: list[str]) -> int:
    triples = zip(words, words[1:], words[2:], strict=False)
    return sum(triple == ("re", ".", "compile") for triple in triples)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
