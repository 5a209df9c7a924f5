"""Reading untrusted XML."""

from pathlib import Path

import pytest

from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.parsing.formats.tei.text import read_xml
from rag_assets_tests.cpu_limit import ends_in_time


def test_an_external_entity_brings_no_word_of_the_other_file(tmp_path: Path) -> None:
    """A parsed paper that quotes /etc/passwd would put it into the index and into answers."""
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read me")
    content = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]><a>before &x; after</a>'

    tree = read_xml(content.encode())

    assert "do not read me" not in "".join(str(part) for part in tree.root.itertext())
    assert tree.root.text == "before "


def test_a_parameter_entity_and_an_external_dtd_are_not_loaded(tmp_path: Path) -> None:
    """An external DTD is a way out to the network, and its defaults would add text that is not in
    the file."""
    (tmp_path / "outer.dtd").write_text(
        '<!ENTITY greeting "from outside"><!ATTLIST a b CDATA "from outside">'
    )
    content = (
        b'<!DOCTYPE a SYSTEM "outer.dtd" [<!ENTITY % p SYSTEM "outer.dtd"> %p;]><a>&greeting;</a>'
    )

    root = read_xml(content).root

    assert "from outside" not in "".join(str(part) for part in root.itertext())
    assert root.get("b") is None


@pytest.mark.parametrize("element", ['<a b="&l11;"/>', "<a>&l11;</a>", "<a>x&l11;y</a>"])
def test_an_entity_bomb_costs_neither_time_nor_memory(tmp_path: Path, element: str) -> None:
    """A billion laughs would take the worker down, and every paper after it."""
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY l0 "ha">{levels}]>{element}'

    with ends_in_time(), pytest.raises(DocumentLimit, match="safety limit"):
        read_xml(bomb.encode())


def test_too_deep_a_nesting_is_refused(tmp_path: Path) -> None:
    """The walk over the tree is recursive; without the limit a hostile file would end the
    process."""
    with pytest.raises(DocumentLimit, match="more than 200 deep"):
        read_xml(b"<a>" * 210 + b"</a>" * 210)
    with pytest.raises(DocumentLimit):
        read_xml(b"<a>" * 100_000)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n ",
        b"plain words",
        b"\x00\x01\x02",
        b"\0" * 100,
        b"%PDF-1.4",
        b"PK\x03\x04" + bytes(range(256)),
        b"<",
        b"<!--",
    ],
)
def test_what_holds_no_tree_is_refused(content: bytes) -> None:
    """An empty paper would be published as one that says nothing."""
    with pytest.raises(UnreadableDocument, match=r"is empty, XML was wanted|holds no readable XML"):
        read_xml(content)


def test_a_slip_in_the_markup_is_repaired_and_noted(tmp_path: Path) -> None:
    """One in four of GROBID's training files is not well-formed; a silent repair could hide lost
    text."""
    tree = read_xml(b'<a xml:id="0"><b>one</b> two caf\xc3\xa9 <c>three</a>')

    assert "".join(str(part) for part in tree.root.itertext()) == "one two café three"
    assert len(tree.notes) == 1
    assert "recovery mode" in tree.notes[0]


@pytest.mark.parametrize(
    "content",
    [
        "<a>façade</a>".encode("utf-16"),
        '<?xml version="1.0" encoding="ISO-8859-1"?><a>façade</a>'.encode("latin-1"),
        "\ufeff<a>façade</a>".encode(),
    ],
)
def test_the_declared_encoding_counts(tmp_path: Path, content: bytes) -> None:
    """Mojibake is in no vocabulary: the words would never be found."""
    assert read_xml(content).root.text == "façade"
