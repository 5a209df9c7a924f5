"""How papers word the four points that a summary tells. Wordings, labels and headings are English.

How much a wording counts, and what else does, is decided in `points`.
"""

import re
from dataclasses import dataclass

from rag_assets.domain import Point


@dataclass(frozen=True)
class Wordings:
    """How sentences of one point are worded, and what their parts of a paper are called."""

    strong: re.Pattern[str]
    """Says that it is this point."""
    weak: re.Pattern[str]
    """Stands in most such sentences, and in others too."""
    label: re.Pattern[str]
    """Begins its part of a structured abstract."""
    heading: re.Pattern[str] | None = None
    """Stands above sentences of this point, whatever else the section is."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_LABELS = {
    Point.ASKED: r"(?:background and )?(?:objectives?|aims?|purpose|questions?)(?: of the study)?",
    Point.DONE: r"(?:(?:materials?|patients|subjects) and )?methods?(?: and materials)?|methodology|(?:study )?design|"
    r"setting|participants|subjects|measurements",
    Point.FOUND: r"(?:main |principal )?(?:results?|findings)(?: and (?:discussion|conclusions?))?|conclusions?|"
    r"interpretation|significance",
    Point.LIMITS: r"limitations?(?: of the study)?",
}
_LABEL_ENDS = r"(?:/[\w ]{3,30})?\s?[:.—–]"


def _label(point: Point) -> re.Pattern[str]:
    return _any(rf"^\W*(?:{_LABELS[point]}){_LABEL_ENDS}")


_WORK = (
    r"(?:stud(?:y|ies)|research|article|paper|work|review|survey|investigation|project|experiments?|report|chapter|"
    r"thesis|trial|analys[ie]s)"
)
_THIS_WORK = rf"(?:this|our|the present|the current|the following|these) (?:\w+ )?{_WORK}"
_ASK = r"(?:ask|examin|investigat|test|assess|address|explor|aim|seek|sought|evaluat|stud(?:y|ied)|determin|compar)"
_TELL = (
    r"(?:present|introduc|propos|discuss|describ|(?<!peer )review|provid|report|outlin|summari[sz]"
    r"|survey|develop|offer|"
    r"focus|highlight)"
)
_TO_KNOW = r"to (?:test|estimate|determine|examine|investigate|assess|evaluate|identify|understand|compare|explore)\b"
_OTHER_PEOPLE = r"(?:participants|them|subjects|respondents|people|children|workers|students|patients)\b"
_COUNTED = (
    r"(?:participants|subjects|patients|infants|children|adults|students|pages|studies|(?:clinical"
    r"|controlled|randomi[sz]ed)"
    r" trials|individuals|respondents|couples|samples|volunteers|households|datasets|models|countries|people)"
)
WORDINGS = {
    Point.ASKED: Wordings(
        strong=_any(
            r"\b(?:aims?|purpose|objectives?|our goals?|goals? of (?:this|our|the (?:present"
            r"|current))) (?:of|was|were|is|are|\w+)\b",
            r"\bresearch questions?\b",
            r"\bwe (?:\w+ )?(?:aim(?:ed|s)?|sought|set out|examine[ds]?|investigate[ds]?|explore[ds]?"
            r"|address(?:ed)?)\b",
            r"\bwe (?:\w+ )?(?:wanted to|were interested in|hypothesi[sz]ed?|stud(?:y|ied)"
            r"|evaluate[ds]? (?:whether|the|how))\b",
            rf"\bwe (?:\w+ )?ask(?:ed)? (?!{_OTHER_PEOPLE})",
            r"\bwe (?:\w+ )?(?:test(?:ed)?|assess(?:ed)?) (?:the|whether|if|how)\b",
            rf"\bwe\b.{{0,160}}? {_TO_KNOW}",
            rf"\bwe (?!first )(?:\w+ )?{_TELL}",
            rf"\b{_THIS_WORK}\b.{{0,60}}?\b(?:{_ASK}|{_TELL})",
            r"\bhere,? we\b|\bwas designed to\b",
            rf"\bin order {_TO_KNOW}",
            rf"\bin (?:this|the present) (?:\w+ )?{_WORK}\b.{{0,80}}?\bwe\b",
        ),
        weak=_any(
            rf"\bin (?:this|the present) (?:\w+ )?{_WORK}\b",
            r"\bwhether\b|\bis to\b|\bhypothes[ie]s\b",
            rf"\b{_TO_KNOW}",
        ),
        label=_label(Point.ASKED),
        heading=_any(
            r"\b(?:present|current) (?:\w+ )?(?:stud(?:y|ies)|research|work)\b",
            r"\bresearch questions?\b|\b(?:aims?|objectives?)\b",
        ),
    ),
    Point.DONE: Wordings(
        strong=_any(
            r"\b(?:were|was) (?:recruited|randomi[sz]ed to|randomly assigned|enrolled|collected"
            r"|measured|annotated|searched)\b",
            r"\b(?:were|was) (?:surveyed|interviewed|sequenced|screened|sampled|administered"
            r"|conducted|performed|isolated)\b",
            r"\bwe (?:\w+ )?(?:measured|recruited|collected|conduct(?:ed)?|analy[sz]ed?|trained?"
            r"|annotated|searched)\b",
            r"\bwe (?:\w+ )?(?:enrolled|surveyed|built|build|implement(?:ed)?|simulated?|recorded"
            r"|asked|administered)\b",
            r"\bwe (?:\w+ )?(?:manipulated|appl(?:y|ied)|us(?:e|ed|ing)|employ(?:ed)?|develop(?:ed)?"
            r"|obtained|modell?ed)\b",
            r"\bwe (?:\w+ )?(?:combined?|compared?|evaluated?|designed|carried out)\b",
            rf"\b\d[\d,]* (?:[\w-]+ ){{0,4}}{_COUNTED}\b|\bNs? ?= ?\d",
            r"\bparticipants (?:\w+ )?(?:were|completed|performed|viewed|judged|rated|chose|read|saw"
            r"|made|learned|played|heard)\b",
        ),
        weak=_any(
            r"\busing\b|\b(?:experiments?|surveys?|studies|trials?|data ?sets?|interviews|case study"
            r"|longitudinal)\b",
            r"\b(?:cross-sectional|randomi[sz]ed|meta-analys[ie]s|simulations?|data from|based on)\b",
        ),
        label=_label(Point.DONE),
    ),
    Point.FOUND: Wordings(
        strong=_any(
            r"\bwe (?:\w+ )?(?:find|found|show(?:ed)?|observed?|demonstrated?|conclude[ds]?"
            r"|discover(?:ed)?|estimated?)\b",
            r"\bwe (?:\w+ )?(?:replicated|argue|confirmed?)\b|\breveal(?:s|ed)\b|\bit was (?:found"
            r"|shown|observed)\b",
            r"\b(?:results?|findings|analys[ie]s|evidence|data|experiments?|study|studies|work) (?:\w+ ){0,2}?"
            r"(?:show(?:ed|s|n)?|indicate[ds]?|suggest(?:ed|s)?|reveal|demonstrate[ds]?|support(?:ed"
            r"|s)?|highlight(?:ed|s)?"
            r"|confirm(?:ed|s)?|provides? evidence|found)\b",
            r"\b(?:in conclusion|in summary|taken together|together,|overall,)",
        ),
        weak=_any(
            r"\b(?:decreased?|increased?|reduced|higher|lower|greater|more|less|fewer|better|worse"
            r"|faster|predict(?:s|ed))\b",
            r"\b(?:outperform\w*|improve[sd]?|associated with|correlated|significant(?:ly)?|effects?|achieves?)\b",
            r"\b(?:resulted in|led to|lowered|differences?|even when|regardless)\b",
            r"\bno (?:\w+ )?(?:evidence|associations?|relations?(?:hips?)?)\b",
            r"\bdid not (?:differ|change|affect|predict|improve|reduce|increase|vary)\b|\bunaffected\b",
            r"\bnot (?:related|associated|different|affected)\b",
        ),
        label=_label(Point.FOUND),
        heading=_any(r"\bkey points\b|\b(?:summary of|main|key) (?:results|findings)\b"),
    ),
    Point.LIMITS: Wordings(
        strong=_any(
            r"\blimitations?\b|\bshortcomings?\b|\blimited (?:by|to|in|our)\b"
            r"|\bconstraints? on generality\b|\bcaveats?\b",
            r"\b(?:interpret\w*|treated|generali[sz]\w*|viewed|considered) (?:\w+ ){0,3}with (?:\w+ )?caution\b",
            r"\bcannot (?:rule out|be ruled out|determine|conclude|exclude|infer|establish"
            r"|be generali[sz]ed|speak to)\b",
            r"\bmay not generali[sz]e\b|\bgenerali[sz]ability\b",
            r"\b(?:future|further|more|additional) (?:\w+ )?(?:research|studies|work|investigations?"
            r"|experiments|trials) "
            r"(?:\w+ ){0,2}(?:should|could|might|may|will|is|are|needs?|can|must|would)\b",
        ),
        weak=_any(
            r"\bremains? (?:unclear|unknown|to be|an open|open)\b|\bunderpowered\b|\bsmall (?:sample|number)\b",
            r"\bdid not (?:include|measure|assess|test|control|examine|allow|consider)\b|\bwe (?:were"
            r"|are) (?:not able|unable)\b",
            r"\bfuture (?:research|studies|work)\b|\b(?:lack of|not yet|unclear|unknown|beyond the scope)\b",
            r"\bgenerali[sz]e[ds]? (?:to|beyond|across)\b|\bself-(?:report|selected)"
            r"|\bcorrelational\b|\bbias(?:ed)?\b|\bmay not\b",
        ),
        label=_label(Point.LIMITS),
        heading=_any(
            r"\blimitations?\b|\bconstraints? on generality\b|\bgenerali[sz]ability\b|\bthreats to validity\b"
        ),
    ),
}
ABSTRACT_LABEL = re.compile(r"\W*(?:abstract|summary)\b", re.IGNORECASE)
"""Begins an abstract in a text without headings."""
_ANY_LABEL = "|".join(["abstract|summary|background|introduction|context", *_LABELS.values()])
LABELS = _any(rf"^\W*(?:(?:{_ANY_LABEL}){_LABEL_ENDS}\s*){{1,2}}")
"""Labels before the first sentence of an abstract or of a part of it."""
HAS_FIGURE = re.compile(
    r"\d[\d.,]* ?(?:%|percent\b|per cent\b|-fold\b|times\b)|\b\d+\.\d|(?<![\d-])(?!(?:19|20)\d\d\b)\d{2,}\b"
)
"""Holds a percentage, a decimal or a number that is no year."""
HAS_RESULT = re.compile(
    r"\d ?(?:%|percent\b|per cent\b|-fold\b|times\b)|\b\d+[.·]\d"
    r"|\b(?:[bdrRFtpβηd]|OR|HR|RR) ?(?:2 ?)?[=<>] ?[-−–]?[.\d]|\d (?:of|out of|per) (?:the )?\d"
)
"""Holds a figure of a result: a percentage, a decimal, a statistic, a share; no size of a sample."""
OF_DETAIL = _any(
    r"\bfollow-?up (?:analys|test|compar)|\b(?:additional(?:ly)?|supplementary|manipulation checks?|pretests?|above)\b",
    r"\b(?:main effect|interaction|ANOVAs?|pilot|validity|control variables?)\b",
)
"""A step of an analysis, whose figures say nothing without the others."""
OF_OTHERS = _any(
    r"\bet al\b|\band colleagues\b|\([^()]{0,80}\b(?:19|20)\d\d[a-z]?\)|\[\d+(?:[,–-] ?\d+)*\]",
    r"\b(?:previous|prior|earlier|past|some|many|several|other|recent|numerous|most|much|extensive|growing) "
    r"(?:[\w-]+ )?(?:work|research|studies|findings|authors|models|evidence|literature)\b",
    r"\bto date\b|\blittle is known\b|^meta-analyses (?:\w+ )?(?:show|suggest|indicate|find|have)\b",
    r"^recently\b|\b(?<!we )(?:have|has) (?:been )?(?:shown|demonstrated)\b",
)
"""Cites, or tells what others did or found."""
OF_DISPLAY = _any(
    r"\b(?:fig(?:ure|s?\.)|table|appendix|section|supplement\w*) ?S?\d|\bsee (?:fig|table|supp)|\bindicated here\b",
    r"\b(?:is|are) shown (?:for|separately|in|as)\b|^(?:the|in each) (?:table|graphs?|figure"
    r"|error bars?|panels?)\b|^\W*in \([a-z]\)",
    r"\bp ?[<=>] ?0?\.\d|\b95% (?:CI|confidence)|\b(?:b|β|d|r) ?= ?[-−–]?\d|\b[a-zA-Z] ?\(\d+(?:, ?\d+)?\) ?=",
)
"""Points to a figure or table, is the text of one, or reports one test."""
LEANS_BACK = _any(
    rf"^(?:this (?!(?:\w+ )?{_WORK}\b)|(?:these|those|they|it|such|however|moreover|thus|therefore|hence)\b)",
    r"^(?:for example|for instance|similarly|in contrast|that is|specifically|in addition"
    r"|additionally|consequently)\b",
    r"^(?:he|she|his|her|their|its|second(?:ly)?|third(?:ly)?|then|also|as such|but|and|further|furthermore"
    r"|nevertheless)\b",
    r"^(?:in turn|to do so|to this end|next|finally|despite these|with that being said|in any case"
    r"|importantly, we also)\b",
)
"""Its first words need the sentence before it."""
OF_ONE_PART = _any(r"\b(?:study|experiment|phase|block|trial|step|hypothesis|condition|sample) \d[a-z]?\b")
"""Is about a part of what was done."""
DETAIL = _any(
    r"[←→∅∈∀∑]|\balgorithm \d",
    r"\bexclud|\badditional\b|\breplaced\b|\boutliers?\b|\bmanufacturer|\battention checks?\b|\bpractice\b",
)
"""Is about a detail of what was done."""
ANNOUNCES_LIMITS = _any(
    r"\b(?:several|some|a number of|two|three|four|few|important) (?:\w+ )?limitations\b",
    r"\blimitations\b[^.]{0,60}[.:](?=\s|$)|\blimited in (?:several|some|two|three|a number of)\b",
)
"""Says that there are limitations; which, the next sentences say."""
