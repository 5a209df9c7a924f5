"""Damage to files, by a seeded random generator: what editors, tools, disks and attackers do to
them."""

import copy
import json
import random
import re
from collections.abc import Callable
from typing import Any

from lxml import etree

from rag_assets_testing.fuzzing.texts import random_text

_NUMBERS = (
    0,
    -1,
    1,
    2,
    9,
    117,
    2**15,
    2**31 - 1,
    2**31,
    2**32,
    2**63,
    -(2**63),
    10**30,
    0.5,
    -0.0,
    1e-9,
    1e308,
)
_VALUES: tuple[Any, ...] = (None, True, "", " ", [], {}, "0", "nan", *_NUMBERS)
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_MARKUP = re.compile(rb"<[^<>]{1,200}>")
_LINE = re.compile(rb"[^\n]*\n")
Mutate = Callable[[bytes, random.Random], bytes]


def mutated(content: bytes, suffix: str, rng: random.Random) -> bytes:
    """One to four mutations of a file's content; of JSON and XML, mostly of values, so that it
    stays JSON or XML."""
    if suffix == ".json" and rng.random() < 0.7:
        return _mutated_json(content, rng)
    if suffix == ".xml" and rng.random() < 0.7:
        return _mutated_xml(content, rng)
    for _ in range(rng.randint(1, 4)):
        content = rng.choice(_MUTATIONS)(content, rng)
    return content


def _flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 3, 30])):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    first, last = _range(content, rng)
    return content[:first] + content[last:]


def _shortened(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _repeated(content: bytes, rng: random.Random) -> bytes:
    first, last = _range(content, rng)
    part = content[first:last][:2000]
    return content[:last] + part * rng.choice([1, 2, 50]) + content[last:]


def _moved(content: bytes, rng: random.Random) -> bytes:
    first, last = _range(content, rng)
    rest = content[:first] + content[last:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + content[first:last] + rest[at:]


def _with_text(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + random_text(rng, rng.choice([1, 5, 200])).encode() + content[at:]


def _with_other_number(content: bytes, rng: random.Random) -> bytes:
    return _replaced(content, _NUMBER, lambda _found: str(rng.choice(_NUMBERS)).encode(), rng)


def _without_markup(content: bytes, rng: random.Random) -> bytes:
    return _replaced(
        content,
        _MARKUP,
        lambda found: rng.choice([b"", found * 2, found.replace(b"<", b"</")]),
        rng,
    )


def _nested(content: bytes, rng: random.Random) -> bytes:
    """One tag, or one bracket, opened a hundred times."""
    opened = rng.choice(
        [b"<div>", b"<p>", b"[", b"{", b"> ", b"* ", b"<table><tr><td>", b"((", b"**"]
    )
    at = rng.randrange(len(content) + 1)
    return content[:at] + opened * rng.choice([10, 100, 1000]) + content[at:]


def _with_lines_swapped(content: bytes, rng: random.Random) -> bytes:
    lines = _LINE.findall(content)
    for _ in range(rng.randint(1, 5)):
        if len(lines) > 1:
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines) or content


def _recoded(content: bytes, rng: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(
        rng.choice(["utf-16", "utf-16-be", "latin-1", "cp1252", "utf-8-sig"]), "replace"
    )


_MUTATIONS: tuple[Mutate, ...] = (
    _flipped,
    _cut,
    _shortened,
    _repeated,
    _moved,
    _with_text,
    _with_text,
    _with_other_number,
    _with_other_number,
    _without_markup,
    _nested,
    _with_lines_swapped,
    _recoded,
)


def _mutated_json(content: bytes, rng: random.Random) -> bytes:
    try:
        tree = json.loads(content)
    except ValueError:
        return _flipped(content, rng)
    for _ in range(rng.choice([1, 2, 5, 20])):
        places = list(_places(tree))
        if not places:
            break
        holder, key = rng.choice(places)
        _mutate_place(holder, key, places, rng)
    return json.dumps(tree).encode()


def _mutated_xml(content: bytes, rng: random.Random) -> bytes:
    try:
        root = etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return _flipped(content, rng)
    for _ in range(rng.choice([1, 2, 5, 20])):
        elements = list(root.iter(etree.Element))
        _mutate_element(rng.choice(elements), rng.choice(elements), rng)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)


def _mutate_element(element: Any, other: Any, rng: random.Random) -> None:
    parent, roll = element.getparent(), rng.random()
    if element.attrib and roll < 0.4:
        name = rng.choice(sorted(element.attrib))
        changed = _with_other_number(element.attrib[name].encode(), rng).decode()
        element.attrib[name] = rng.choice([changed, changed, "", str(rng.choice(_NUMBERS))])
    elif roll < 0.6:
        element.text = legal(random_text(rng, rng.choice([1, 20, 200])))
    elif parent is None:
        element.set("coords", f"{rng.choice(_NUMBERS)},1,1,9,9")
    elif roll < 0.7:
        parent.remove(element)
    elif roll < 0.8:
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(element))
    elif roll < 0.9 and element not in other.iterancestors() and element is not other:
        other.append(element)
    else:
        element.tag, other.tag = other.tag, element.tag


def legal(text: str) -> str:
    """The characters of a text that may stand in XML."""
    return "".join(
        char for char in text if char in "\t\n\r" or " " <= char < "\ufffe" or char > "\uffff"
    )


def _mutate_place(holder: Any, key: Any, places: list[tuple[Any, Any]], rng: random.Random) -> None:
    value = holder[key]
    roll = rng.random()
    if roll < 0.15:
        del holder[key]
    elif roll < 0.3:
        other, name = rng.choice(places)
        holder[key] = json.loads(json.dumps(other.get(name) if isinstance(other, dict) else None))
    elif isinstance(value, str) and roll < 0.7:
        holder[key] = rng.choice(
            [value * 3, value[: len(value) // 2], random_text(rng, 60), "\ud800" + value]
        )
    elif isinstance(value, int | float) and roll < 0.9:
        holder[key] = rng.choice([*_NUMBERS, value + 1, -value])
    else:
        holder[key] = rng.choice(_VALUES)


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every value in a tree of JSON."""
    found, waiting = [], [tree]
    while waiting:
        holder = waiting.pop()
        keys = (
            list(holder)
            if isinstance(holder, dict)
            else range(len(holder))
            if isinstance(holder, list)
            else ()
        )
        found += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return found


def _replaced(
    content: bytes,
    pattern: re.Pattern[bytes],
    replacement: Callable[[bytes], bytes],
    rng: random.Random,
) -> bytes:
    """One in four of the matches, at most ten, replaced."""
    n_left = 10

    def changed(match: re.Match[bytes]) -> bytes:
        nonlocal n_left
        if n_left and rng.random() < 0.25:
            n_left -= 1
            return replacement(match[0])
        return match[0]

    return pattern.sub(changed, content)


def _range(content: bytes, rng: random.Random) -> tuple[int, int]:
    first = rng.randrange(len(content) + 1)
    return first, min(len(content), first + rng.choice([1, 20, 400, 5000]))
