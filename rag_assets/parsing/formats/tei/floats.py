"""Where figures, tables and notes that GROBID moved behind the text belong in the reading order.

By their coordinates, if the text around has some: behind the last block that is proved to begin before them, column by
column. Else behind the first block that refers to them. Else behind the body, in no section. They take the section
of the block they follow, and never cut a paragraph in two.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_assets.core.domain import Zone
from rag_assets.parsing.formats.tei.coords import Area
from rag_assets.parsing.formats.tei.layout import Layout
from rag_assets.parsing.formats.tei.pages import Point, consistent
from rag_assets.parsing.formats.tei.text import UnplacedBlock

PagePlace = tuple[int, int, float]
"""Page, column and distance from the top of the page."""


@dataclass(frozen=True)
class Placement:
    """Floats by the block they follow, and those that found no place."""

    after: dict[int, list[UnplacedBlock]]
    """Index of the host -> floats behind it, in their order."""
    homeless: list[UnplacedBlock]


def place(
    floats: Iterable[UnplacedBlock], hosts: Sequence[UnplacedBlock], points: Sequence[Point], layout: Layout | None
) -> Placement:
    """Find a place among `hosts` for each float.

    points: what proves pages in the first chain; the hosts begin with its blocks.
    """
    places = _host_places(hosts, points, layout)
    mentions = _first_mentions(hosts)
    after: dict[int, list[tuple[PagePlace | None, UnplacedBlock]]] = {}
    homeless = []
    for float_ in floats:
        where = _place_of(float_.areas[0], layout) if float_.areas else None
        host = _host_before(where, places) if where else None
        if host is None:
            host = mentions.get(float_.element_id)
            where = None
        if host is None:
            homeless.append(float_)
        else:
            after.setdefault(host, []).append((where, float_))
    return Placement({host: _in_order(placed) for host, placed in after.items()}, homeless)


def _in_order(placed: list[tuple[PagePlace | None, UnplacedBlock]]) -> list[UnplacedBlock]:
    by_place = sorted((pair for pair in placed if pair[0] is not None), key=lambda pair: pair[0] or (0, 0, 0.0))
    return [block for _, block in (*by_place, *(pair for pair in placed if pair[0] is None))]


def _host_places(
    hosts: Sequence[UnplacedBlock], points: Sequence[Point], layout: Layout | None
) -> list[tuple[PagePlace, int]]:
    """The places proved inside the hosts that may be followed by a float, with the host's index."""
    return [
        (_place_of(point.area, layout), point.block)
        for point, is_kept in zip(points, consistent(points), strict=True)
        if is_kept and point.area is not None and hosts[point.block].zone is Zone.BODY
    ]


def _host_before(where: PagePlace, places: Sequence[tuple[PagePlace, int]]) -> int | None:
    """The last host with a place before `where`; the first host with a place at all when there is none."""
    if not places:
        return None
    return max((index for place_, index in places if place_ <= where), default=places[0][1])


def _first_mentions(hosts: Sequence[UnplacedBlock]) -> dict[str, int]:
    found: dict[str, int] = {}
    for index, host in enumerate(hosts):
        if host.zone is not Zone.BACK:
            for target in host.run.targets:
                found.setdefault(target, index)
    found.pop("", None)
    return found


def _place_of(area: Area, layout: Layout | None) -> PagePlace:
    return area.page, layout.column_of(area) if layout else 0, area.top
