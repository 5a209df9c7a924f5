"""A tiny file of packed weights, written from the description of the format."""

import struct
from pathlib import Path

HIDDEN, WIDE = 32, 64
PIECES = [
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    ("▁iron", -1.5),
    ("s", -2.25),
]
BLOCK = [*range(16), *range(15, -1, -1)]
"""Numbers of a block, 0 to 15; row i of a matrix has them i + 1 times as large."""
REPLACED = {"\t": " ", "ﬁ": "fi", "\u00ad": ""}


def write_packed(file: Path) -> None:
    """One layer, six words, two places, one kind of token."""
    tensors = _tensors()
    texts = [text.encode() for text, _ in PIECES]
    bounds = [sum(map(len, texts[:number])) for number in range(len(texts) + 1)]
    head = b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, 1, 2, WIDE, len(PIECES), 2, 1, 1e-6, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, bounds[-1])
    head += struct.pack(f"<{len(bounds)}I", *bounds)
    head += struct.pack(f"<{len(PIECES)}f", *(score for _, score in PIECES)) + b"".join(texts)
    replaced = b"".join(
        struct.pack(f"<IB{len(text)}I", ord(character), len(text), *map(ord, text))
        for character, text in REPLACED.items()
    )
    head += struct.pack("<iI", len(REPLACED), len(replaced)) + replaced
    directory_size = 4 + sum(2 + len(name) + 21 for name in tensors)
    at = len(head) + directory_size
    directory = struct.pack("<i", len(tensors))
    for name, (kind, n_numbers, content) in tensors.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, n_numbers, at, len(content))
        at += len(content)
    file.write_bytes(head + directory + b"".join(content for _, _, content in tensors.values()))


def _tensors() -> dict[str, tuple[int, int, bytes]]:
    tensors = {
        "emb.word": _matrix(len(PIECES), HIDDEN),
        "emb.pos": _floats([0.25] * HIDDEN + [1.25] * HIDDEN),
        "emb.type": _floats([0.125] * HIDDEN),
        "emb.ln.w": _floats([1.0] * HIDDEN),
        "emb.ln.b": _floats([0.0] * HIDDEN),
    }
    for name, n_rows, n_columns in [
        *((name, HIDDEN, HIDDEN) for name in ("q", "k", "v", "ao")),
        ("fi", WIDE, HIDDEN),
        ("fo", HIDDEN, WIDE),
    ]:
        tensors[f"l0.{name}.w"] = _matrix(n_rows, n_columns)
        tensors[f"l0.{name}.b"] = _floats([0.0] * n_rows)
    for name in ("aln", "oln"):
        tensors[f"l0.{name}.w"] = _floats([1.0] * HIDDEN)
        tensors[f"l0.{name}.b"] = _floats([0.5] * HIDDEN)
    return tensors


def _floats(numbers: list[float]) -> tuple[int, int, bytes]:
    return 0, len(numbers), struct.pack(f"<{len(numbers)}f", *numbers)


def _matrix(n_rows: int, n_columns: int) -> tuple[int, int, bytes]:
    halves = bytes(low | high << 4 for low, high in zip(BLOCK[:16], BLOCK[16:], strict=True))
    content = b"".join(
        (struct.pack("<e", 0.5 * (row + 1)) + halves) * (n_columns // 32) for row in range(n_rows)
    )
    return 1, n_rows * n_columns, content
