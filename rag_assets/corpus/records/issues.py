"""Reads journal, volume, issue, pages and year from what a publisher writes into the metadata of a
PDF, if its first page prints the same numbers, or from the cover of an archive."""

import re
from collections.abc import Iterator
from typing import Any

from rag_assets.core.domain import PrintedFront

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_VENUE = r"(?P<venue>[^\d\n]{3,120}?),?"
_PAGES = r"(?P<pages>\w{1,9}(?:[-–]\w{1,9})?)"
_IN_METADATA = re.compile(
    rf"^{_VENUE} (?:{_YEAR}\.(?P<volume>\d{{1,4}}):{_PAGES}$"
    rf"|(?P<volume_before>\d{{1,4}}) \({_YEAR.replace('year', 'year_behind')}\),? "
    rf"{_PAGES.replace('pages', 'pages_behind')})",
    re.MULTILINE,
)
"""As "Journal of Winter 2019.30:682-696"; "Journal of Winter, 30 (2019) 682-696. doi:..."."""
_ON_COVER = re.compile(
    rf"^Source: {_VENUE} Vol\. (?P<volume>\d{{1,4}})(?:, No\. (?P<issue>[\d/]{{1,7}}))?"
    rf" \([^()\n]*?{_YEAR}\), pp?\. {_PAGES}",
    re.MULTILINE,
)


def issue_of(printed: PrintedFront) -> dict[str, Any]:
    """The fields of the record that name the issue; empty unless they are sure."""
    numbers = set(re.findall(r"\d+", printed.text))
    for fields in _stated(printed):
        first_page = re.split("[-–]", fields["pages"])[0]
        if {fields["year"], fields["volume"], first_page} <= numbers:
            return fields | {
                "year": int(fields["year"]),
                "pages": fields["pages"].replace("–", "-"),
            }
    return {}


def _stated(printed: PrintedFront) -> Iterator[dict[str, str]]:
    texts = ((_ON_COVER, printed.text), (_IN_METADATA, printed.metadata))
    for pattern, text in texts:
        for match in pattern.finditer(text):
            named = match.groupdict()
            yield {name.partition("_")[0]: value for name, value in named.items() if value}
