"""Takes a compound question apart by rules: each part is searched and answered by itself.

"Why is X scaled, and who proposed Y?" asks twice in so many words. "How many people were there in A and in B?" asks
the same of two things: each gets a question of its own, so that an answer about one of them does not look whole. The
wordings are English.
"""

import re
from collections.abc import Sequence

_ASKING = r"(?:how|what|which|why|who|whom|whose|when|where|whether)"
_PREPOSITION = r"(?:in|of|for|on|with|by|at|from|to|among|during|under|against|between|over|after)"
_NAME = r"(?-i:[\w-]*[A-Z][\w-]*)"
_NEW_QUESTION = re.compile(
    rf"[,;]?\s+and\s+(?=(?:{_PREPOSITION}\s+)?{_ASKING}\b)"
    r"|[,;]\s+and\s+(?=(?:did|does|do|is|are|was|were|has|have|can|could|should|will|would)\b)",
    re.IGNORECASE,
)
_LIST_ITEM = re.compile(r"[,;]\s+and\s+|;\s+", re.IGNORECASE)
_ASKS_AGAIN = re.compile(
    rf"^(?P<asked>(?:{_PREPOSITION}\s+)?{_ASKING}(?:\s+(?:much|many|long|often|far|large|big|old))?)\s+"
    rf"(?P<preposition>{_PREPOSITION})\s",
    re.IGNORECASE,
)
"""The second half of "By how much is X shortened with A, and by how much with B?" leaves out what is asked."""
_TWO_THINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<head>.+?),? on (?:the )?one hand (?P<one>.+?),? (?:and |but )?on the other(?: hand)?,? (?P<other>.+)$",
        *(
            rf"^(?P<head>.+? (?P<same>{_PREPOSITION}) )(?P<one>{begins} .+?),? and (?P=same) "
            r"(?P<other>.+?)(?P<tail> (?:come|differ|compare|have|show|report))?$"
            for begins in (r"(?:the|an?|those|\w+'s)", r"\w+")
        ),
        rf"^(?P<head>.+? (?P<same>{_PREPOSITION}) )(?P<one>{_NAME}),? and (?P=same) (?P<other>{_NAME}(?: .+)?)$",
        r"^(?P<head>what (?:do|does|did) )(?P<one>the .{3,60}?) and (?P<other>the .{3,60}?)"
        r"(?P<tail> (?:say|tell|show|find|report|conclude|state|suggest)\b.*)$",
        r"^(?P<head>.+? according to )(?P<one>(?:the|an?) .+?),? and (?P<other>(?:the|an?) .+)$",
        r"^(?P<head>(?:which|what|who) .+?,) (?P<one>[^,]{2,60}?),? or (?P<other>[^,]{2,60})$",
        r"^(?P<head>how (?:do|does|did) )(?P<one>.{3,60}?) and (?P<other>.{3,60}?)(?P<tail> each .+)$",
    )
)
_COMPARED_WITH = re.compile(
    r"^(?P<head>(?:what|which) (?P<noun>.+?) (?:did|do|does|is|are|was|were|has|have)\b.+?),? "
    r"(?:compared (?:with|to)|as opposed to|in contrast to|unlike) (?:that|those|the one|the ones) "
    r"(?P<other>.+)$",
    re.IGNORECASE,
)


def split(question: str) -> list[list[str]]:
    """What is asked, as it was asked, one list for each thing; where the same is asked of two things, one question for
    each of these."""
    head, colon, items = question.partition(": ")
    if colon and _LIST_ITEM.search(items):
        parts = [f"{head}: {item}" for item in _LIST_ITEM.split(items)]
    else:
        parts = _NEW_QUESTION.split(question)
    asked = [part.strip(" ?") + "?" for part in parts]
    return [_of_two_things(part) or [part] for part in _with_what_is_asked(asked)]


def _with_what_is_asked(parts: Sequence[str]) -> list[str]:
    """Parts that leave out what is asked get it from the one before: its words up to the same preposition."""
    whole = [parts[0]]
    for part in parts[1:]:
        again, before = _ASKS_AGAIN.match(part), whole[-1]
        same = f" {again['preposition']} " if again else ""
        begins_alike = again is not None and before.casefold().startswith(again["asked"].casefold())
        if again is not None and begins_alike and same in before[again.end("asked") :]:
            at = before.index(same, again.end("asked"))
            whole.append(before[:at] + " " + part[again.start("preposition") :])
        else:
            whole.append(part)
    return whole


def _of_two_things(question: str) -> list[str]:
    """A question about two things as two questions; empty for any other."""
    asked = " ".join(question.split()).rstrip("?. ")
    compared = _COMPARED_WITH.match(asked)
    if compared is not None:
        return [f"{compared['head']}?", f"What {compared['noun']} {compared['other']}?"]
    for pattern in _TWO_THINGS:
        found = pattern.match(asked)
        if found is not None:
            tail = found.groupdict().get("tail") or ""
            head = found["head"].rstrip() + " "
            return [f"{head}{found[side]}{tail}?" for side in ("one", "other")]
    return []
