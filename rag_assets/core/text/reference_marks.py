"""Marks in a text that point to its reference list."""

import re

_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?|In|Since|From|Until|Between|During)\b"
)
_NAME = r"[\w'’-]{1,40}"
"""Bounded, because a text of A'A'A'A would take quadratic time."""
_AUTHORS = rf"\b(?!{_MONTHS})[A-Z]{_NAME}(?:(?:,| and| &) [A-Z]{_NAME}|,? et al\.?){{0,6}}"
_YEARS = r"(?:19|20)\d\d[a-z]?(?:,\s?(?:(?:19|20)\d\d[a-z]?|[a-z]\b|pp?\.\s?\d+(?:[-–]\d+)?))*"
REFERENCE_MARK = re.compile(
    r"\[\s?\d{1,4}(?:\s?[,;–-]\s?\d{1,4})*\s?\]"
    rf"|\((?:e\.g\.,? |see (?:also )?|cf\. |reviewed (?:in|by) )?{_AUTHORS},? {_YEARS}"
    rf"(?:;\s?(?:see also )?{_AUTHORS},? {_YEARS})*\)"
    rf"|{_AUTHORS} \({_YEARS}\)"
)
"""Marks that point to the reference list: "[12, 13]", "(Smith et al., 2019)", "Smith and Jones (2019)"."""
