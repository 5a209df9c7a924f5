"""The English words by which papers say what rose, what fell and what made no difference."""

import re

UP = re.compile(
    r"increas\w*|rises?|rising|rose|risen|grow(?:s|n|th|ing)?|grew|higher|greater|larger|bigger|more|longer|faster|"
    r"stronger|better|rais(?:e|es|ed|ing)|boost\w*|lengthen\w*|strengthen\w*|doubl(?:e|es|ed|ing)|improv\w*|enhanc\w*|promot\w*|elevat\w*|accelerat\w*|heighten\w*|positive(?:ly)?|exceed\w*"
)
DOWN = re.compile(
    r"decreas\w*|reduc\w*|falls?|falling|fell|fallen|declin\w*|drop(?:s|ped|ping)?|lower\w*|smaller|less|fewer|shorter|"
    r"slow(?:er|s|ed)|weak(?:er|en|ens|ened)|shorten\w*|halv(?:e|es|ed|ing)|worse\w*|diminish\w*|delay\w*|impair\w*|suppress\w*|inhibit\w*|attenuat\w*|negative(?:ly)?"
)
CHANGE_AS_NOUN = re.compile(
    r"(?:increase|decrease|rise|decline|drop|fall|delay|gain)s?|growth|boost|reductions?|\w+(?:ment|ation|ition|ion)s?"
)
"""Of the words above, those that may be nouns: "an increase in"."""
EFFECT = re.compile(
    r"effects?|affect(?:s|ed|ing)?|influenc\w*|differ(?:s|ed|ence|ences|ential)?|associat\w*|correlat\w*|"
    r"relat(?:ed|es|ion|ions|ionship|ionships)|predict(?:s|ed|ive|or)?|significant(?:ly)?|depend(?:s|ed|ent|ence)?|"
    r"chang(?:e|es|ed)|mediat\w*|impact(?:s|ed)?|benefit\w*|unaffected|unchanged|unrelated|independent|insensitive|"
    r"negligible|ineffective|effective|observed"
)
"""Words that say that one thing makes a difference to another, or that it does not."""
ABSENT = frozenset("unaffected unchanged unrelated independent insensitive negligible ineffective".split())
NEGATION = re.compile(r"no|not|cannot|neither|nor|none|never|without|fail(?:s|ed)?|little|\w+n't")
"""Words before an effect or a change that say that there is none."""
CONJECTURE = re.compile(
    r"\b(?:hypothes\w+|(?:we|was|were|is|are) (?:predicted|expected)|predicted (?:that|a|an|the)|expect(?:ed)? that|"
    r"anticipat\w+|may|might|could|whether|prediction was|aim(?:ed|s)? to)\b|\?\s*$",
    re.IGNORECASE,
)
"""What is supposed, asked or intended, and no finding."""
_STUDIES = r"(?:tests?|experiments?|investigations?|measurements?|analys[ei]s|stud(?:y|ies)|trials?|surveys?)"
PROCEDURE = re.compile(
    rf"\b(?:{_STUDIES} (?:\w+ )?(?:was|were) (?:\w+ )?(?:conducted|performed|made|carried out|run|identical)|"
    r"(?:was|were) (?:then |first |also )?(?:recorded|presented|smoothed|filtered|excluded|removed|scored|recruited|"
    r"paid|purchased|incubated|centrifuged|administered|instructed|asked)|"
    r"participants (?:\w+ )?(?:took|completed|responded|rated|viewed|saw|indicated)|to complete|"
    r"likert|response (?:options|scale)|scale (?:that )?(?:rang\w+ )?from|refresh rate|viewing distance|sampling rate|"
    r"sample size|\d ?% power|power of|(?:in|ex)clusion criteria|error bars?|supplement(?:al|ary)|apparatus|asterisks?|"
    r"more details?|considered (?:\w+ )?significant|statistical analys[ei]s)\b",
    re.IGNORECASE,
)
"""How something was studied: every paper has settings of its own, and none contradicts another's."""
STATISTIC = re.compile(r"\b(interact|indirect effect|mediat|correlat)", re.IGNORECASE)
"""Kinds of effects: that there is one of a kind says nothing of another kind."""
ADJUSTED = re.compile(
    r"\b(?:no longer|after adjust\w+|adjust(?:ed|ing) for|controll(?:ed|ing) for|when controlling)\b", re.IGNORECASE
)
"""Says that a finding holds, or holds no more, once something else is taken into account."""
POINTS_BACK = re.compile(
    r"^\W*(?:\w+,? ){0,3}?(?:this|these|that|those|such|they|the same|the reverse|the latter|the former)\b"
    r"(?: \w+){0,2} (?:was|were|is|are|did|do|does|has|have|had|emerged|remained|held|increased|decreased)\b",
    re.IGNORECASE,
)
"""A subject that an earlier sentence names: what it is about cannot be read from this one."""
CLAUSE_END = re.compile(r"[;:]|(?<!\d)\.(?!\d)|,? (?:but|while|whereas|although|though|however)\b")
DRIVEN = re.compile(
    r"\b(?:as|with|by|when|if|for|at|leads? to|led to|results? in|resulted in|predict\w*|associat\w*|correlat\w*|"
    r"compensated|depend\w*)\b",
    re.IGNORECASE,
)
"""Words between two things of which one follows the other: if both are turned round, the finding stays the same."""
OPPOSITES = tuple(
    (re.compile(rf"\b(?:{one})\b", re.IGNORECASE), re.compile(rf"\b(?:{other})\b", re.IGNORECASE))
    for one, other in (
        ("men|males?|boys?|fathers?", "women|females?|girls?|mothers?"),
        ("child|children|infants?|adolescents?|pa?ediatric", "adults?|elderly"),
        ("young(?:er)?", "older|old|elderly|middle-aged"),
        ("mice|mouse|rats?|animals?|murine", "humans?|patients?|people"),
        ("in vitro", "in vivo"),
        ("laminar", "turbulent"),
        ("subsonic", "supersonic|hypersonic"),
        ("convex", "concave"),
        ("before|pre-?\\w+", "after|post-?\\w+"),
        ("positive affect", "negative affect"),
        ("senders?", "receivers?"),
        ("rural", "urban"),
        ("symptomatic", "asymptomatic"),
        ("inpatients?", "outpatients?"),
    )
)
"""Populations and conditions that exclude each other: a finding about one says nothing about the other."""
