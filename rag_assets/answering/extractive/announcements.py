"""Recognises sentences that say what a paper does, where something stands, how its figures are read or what its short
forms stand for, not what was found.

They hold the words of every question about the paper's subject, and answer none but those about its aim. The wordings
are English.
"""

import re

from rag_assets.questions import asks_for_a_definition

_PURSUES = (
    r"(?:aim(?:s|ed)?|sought|set out|examine[ds]?|investigate[ds]?|explore[ds]?|assess(?:es|ed)?|evaluate[ds]?|tested|"
    r"asked|review(?:s|ed)?|discuss(?:es|ed)?|describe[ds]?|outline[ds]?|summari[sz]e[ds]?|compare[ds]?)"
)
_ANNOUNCES = re.compile(
    r"^(?:this|the (?:present|following|current)) (?:paper|note|review|article|section|chapter|work|appendix|study) "
    r"(?:\w+ )?(?:introduces|presents|surveys|covers|lists|explains|" + _PURSUES + r")\b"
    r"|^(?:(?:here|thus|therefore|then|finally|next|first(?:ly)?|lastly|in (?:this|the present) \w+),? )?"
    r"(?:we|i|(?:our|the) (?:aim|goal|objective|purpose)\b.{0,60}?) "
    r"(?:also |then |further |next |first |will |have |was |is )*(?:to )?" + _PURSUES + r"\b"
    r"|^(?:in|as) (?:section|appendix|table|fig(?:ure|\.)) \S+?,? (?:we|i) "
    r"|^(?:table|fig(?:ure|\.)) \S+ "
    r"(?:shows|lists|presents|summari[sz]es|highlights|illustrates|depicts|gives) (?!that\b)",
    re.IGNORECASE,
)
_EXPLAINS_MARKS = re.compile(
    r"^(?:(?:the|all) )?(?:error bars?|asterisks?|whiskers|"
    r"(?:dashed|solid|dotted|shaded|vertical|horizontal|gr[ae]y|black|white|red|blue|green) "
    r"(?:lines?|areas?|bars?|regions?|dots?|circles?|curves?|symbols?|bands?))\b"
    r".{0,60}\b(?:indicates?|represents?|shows?|denotes?|marks?|correspond|are|is)\b",
    re.IGNORECASE,
)
"""Says how a figure is read: "Error bars represent 95% confidence intervals."."""
_ASKS_FOR_MARKS = re.compile(r"\b(?:bars?|lines?|asterisks?|shaded|colou?rs?|figures?|plots?|graphs?)\b", re.IGNORECASE)
_LISTS_SHORT_FORMS = re.compile(r"(?:(?:^|; ?)[\w./-]{1,12}(?:: | ?= ?)[^;]{3,80}){3}")
"""Says what short forms stand for: "SCV: sensory conduction velocity; SD: standard deviation; ..."."""
_PLACES = (
    r"(?:instructions?|manual|guide|documentation|website|sections?|chapters?|appendix|pages?|tables?|"
    r"fig(?:ures?|\.)?|notes?|items?|parts?|box|examples?)"
)
_POINTS_ELSEWHERE = re.compile(
    r"^\W*(?:for (?:more|further|additional|full|detailed) \w+[^,.]{0,80}, )?(?:please )?(?:also )?(?:see|refer to) "
    rf"(?:also )?(?:the |our )?(?:[\w-]+ )?{_PLACES}\b.{{0,200}}$",
    re.IGNORECASE,
)
"""Says where something stands: "See instructions if the appliance does not drain.", "Refer to Note 13 for details."."""
_ASKS_FOR_A_PLACE = re.compile(rf"\b(?:where|see|refer\w*|mention\w*|{_PLACES})\b", re.IGNORECASE)
_FOUND = re.compile(
    r"\d\s?%|\d\d|\b(?:found|find|show(?:s|ed|n)? that|reveal\w*|observ\w+|indicat\w+|suggest\w*|conclud\w+|"
    r"demonstrat\w+|result(?:s|ed)? (?:in|from|show)|significant\w*|because|due to|by means of|using|but|however)\b",
    re.IGNORECASE,
)
"""A sentence with one of these may also say what came of it, or how it was done."""
_ASKED = re.compile(
    r"\b(?:aim(?:s|ed)?|focus\w*|goals?|purpose|objectives?|topics?|hypothes[ie]s|summar\w+|research questions?|"
    r"(?:was|were|did|do|does|is|are|have|has|been|will) (?:\w+ ){0,4}?"
    r"(?:investigated?|examined?|explored?|reviewed?|described?|tested|compared?|evaluated?|assess(?:ed)?|stud(?:y|ied))|"
    r"what (?:was|were|did|do|does|have|has|will) (?:the |this )?(?:\w+ )?"
    r"(?:authors?|paper|study|review|article|researchers|they|we))\b",
    re.IGNORECASE,
)


def only_announces(text: str, question: str) -> bool:
    """Whether a sentence tells an aim or what stands elsewhere, and nothing that was found, and the question does not
    ask for that."""
    if _EXPLAINS_MARKS.match(text) is not None:
        return _ASKS_FOR_MARKS.search(question) is None
    if _POINTS_ELSEWHERE.match(text) is not None:
        return _ASKS_FOR_A_PLACE.search(question) is None
    if _LISTS_SHORT_FORMS.search(text) is not None:
        return not asks_for_a_definition(question)
    return _ANNOUNCES.match(text) is not None and _FOUND.search(text) is None and _ASKED.search(question) is None
