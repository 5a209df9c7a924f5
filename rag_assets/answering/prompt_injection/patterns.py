"""English wordings by which text that speaks to a model is told from text about a subject; `detection` applies them.

They catch common attempts only. What protects an answer is the fence around the sources and the verification of quotes;
these patterns keep such sentences out of the prompt and out of citations. Other languages and rare wordings are left to
that protection. An order counts only in words that papers, manuals and reports do not need, because a false alarm
leaves a sentence out.

The patterns see text from `detection.unmasked`: lower case, no accents, nothing invisible. A space in them stands for
anything that may separate two words.
"""

import re
from collections.abc import Sequence

_ADDRESSEE = (
    r"(?:ai|a\.i\.|ais|llms?|gpts?|chatgpt|chatbots?|language models?|(?:ai|virtual|digital) assistants?|assistant|"
    r"copilot|claude|gemini|ai agents?|automated (?:reader|reviewer|system|tool)s?)"
)
_RULES = r"(?:instructions?|prompts?|directions?|directives?|commands?|rules?|guidelines?|orders?|restrictions?)"
_IGNORE = r"(?:ignore|disregard|forget|overlook|override|bypass|do not (?:follow|obey|listen to))"
_EARLIER = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|system|safety|past|other|your)"
)
_FEW = r"(?:(?:all|any|the|your|my|of|these|those|every|other|and|or) ){0,4}"
_SAY = r"(?:say|state|answer|respond|reply|write|output|print|return|claim|report|tell|conclude|repeat|include|confirm)"
_CITED = r"(?:sources?|papers?|documents?|articles?|stud(?:y|ies)|references?|contexts?|passages?)"
_MUST = r"(?:must|should|shall|will|may|has to|have to|needs? to)"
_NOT = r"(?:do not|don.t|never|avoid|stop)"

_ORDERS = (
    rf"{_IGNORE} (?:everything|anything|all)(?: that)?(?: (?:was|is|has been|you were|you have been))? "
    r"(?:told|said|instructed|above|before this|written above|stated above)",
    rf"{_IGNORE} (?:(?:all|any of) )?your (?:\w+ )?{_RULES}\b",
    r"forget (?:everything|all|what|anything)(?: that)? you (?:were|have been|know|learned)",
    rf"(?:all|any|your|the) (?:previous|prior|above|earlier|preceding) {_RULES} (?:are|have been|must be|should be) "
    r"(?:\w+ )?(?:void|cancell?ed|revoked|obsolete|superseded|ignored|disregarded)",
    rf"new {_RULES} (?:for|to) (?:the |any |all |an? )?{_ADDRESSEE}\b",
    r"your (?:new|real|actual|true|only) (?:instructions?|task|role|goal|objective|mission) (?:is|are)",
    r"you are (?:now|no longer) (?:(?:an?|the|my|in) )?(?:\w+ ){0,3}"
    r"(?:assistant|ai|llm|language model|chatbot|agent|mode|jailbroken|unrestricted|dan|bound|restricted)\b",
    rf"as (?:an? |the )(?:\w+ ){{0,2}}{_ADDRESSEE}(?:[^\w\n]{{1,3}}language model)?[^\w\n]{{1,3}}(?:you|i) "
    r"(?:must|should|shall|will|have|are|need|am|can|cannot|do)",
    rf"(?:if|when|because|since) you are (?:an? |the )?(?:\w+ ){{0,2}}{_ADDRESSEE}\b",
    rf"(?:models?|software|machine|whoever|anyone) (?:reading|processing|that reads|who reads) this(?: \w+)? {_MUST}\b",
    rf"{_ADDRESSEE} (?:\w+ ){{0,3}}(?:reading|processing|reviewing|answering|reads?|process(?:es)?|reviews?) this\b",
    rf"{_ADDRESSEE} (?:must|should|shall) (?:always |only |never )?"
    r"(?:treat this|cite this|ignore (?:all|the|any)|say that|state that|give a positive)\b",
    r"(?:attention|note|notice|instructions?|message|reminder|dear|hey|hello|hi) (?:(?:to|for) )?"
    rf"(?:(?:the|any|all|every|an?) )?(?:\w+ )?{_ADDRESSEE}\b(?: \w+){{0,3}}\s?[:!,]",
    r"(?:reveal|print|show|repeat|output|leak|ignore|override|your|disclose)(?: \w+){0,3} (?:system|developer) "
    r"(?:prompt|message|instructions?)",
    r"(?:^|[\n\[<(#*])\s{0,3}(?:(?:new|updated|begin|end|end of) )?(?:system|developer) "
    r"(?:prompt|message|override|instructions?)\s?[:\]>)]",
    rf"{_NOT} (?:mention|reveal|disclose)(?: \w+){{0,2}} (?:this|these) (?:instructions?|prompts?|message|note)",
    rf"your (?:final |next |whole )?(?:answer|response|reply|output|summary|review) {_MUST} (?:\w+ ){{0,2}}?"
    r"(?:say|state|contain|include|begin|start|end|mention|cite|conclude|claim)\b",
    r"(?:append|add|insert|include|put)[^\n.]{1,80}? (?:to|in|into|at the end of) your (?:final )?"
    r"(?:answer|reply|response|output)\b",
    r"this (?:document|paper|source|text|article) (?:supersedes|overrides) (?:all|any|every|your)\b",
    r"all other (?:sources|papers|documents) (?:are (?:unreliable|wrong|false|retracted|fake)|(?:\w+ ){0,3}"
    r"(?:must|should) be (?:ignored|disregarded))\b",
    r"(?:if (?:you are )?asked (?:about|for|whether|what|how|which|who)|when(?:ever)? (?:you )?answer(?:ing)?)"
    rf"[^\n.]{{0,60}}?, ?(?:(?:you must|you should|always|only|please) )?(?:{_SAY} (?:that|with|only)|cite|quote)\b",
    r"you (?:must|should|may|shall|can) (?:not|never) (?:cite|quote) (?:any|other|the|another)\b",
    r"(?:send|post|transmit|forward|leak)[^\n]{0,60}(?:conversation|question|prompt|api key|answer)[^\n]{0,40}https?://",
)
_IMITATIONS = (
    # turns of a conversation
    r"<\|[a-z][\w\s]{0,30}\|>",
    r"\[/?inst\]",
    r"<</?sys>>",
    r"</?s>\s{0,3}(?:</?s>|\[|<|system|user|human|assistant)",
    r"<(?:start|end)_of_turn>",
    r"</?(?:system|assistant|user|human|developer|tool_call|function_call|tool_use|instructions?|prompt)"
    r"(?: [^<>\n]{0,80})?>",
    r"#{2,6} ?(?:instructions?|response|system|input|assistant|human|user)(?: (?:prompt|message))?\s?:",
    r"#{2,6} ?(?:(?:new )?instructions?|system prompt|new task)\s*(?:\n|$)",
    rf"(?:^|\n)[^\w\n]{{0,4}}(?:system|assistant|human|user|developer|tool|ai|model)\s?:\s{{0,3}}[^\n]{{0,160}}?\b"
    rf"(?:you (?:are|{_MUST})|your (?:answer|reply|response|task)|ignore|disregard|{_SAY} (?:only|that|with)|cite)\b",
    r"(?:^|\n)[^\w\n]{0,4}(?:human|user|system)\s?:[^\n]{0,400}\n[^\w\n]{0,4}assistant\s?:[^\n]{0,400}",
    r"(?:^|\n)[^\w\n]{0,4}assistant\s?:(?: [^\s:]+){5}",
    # the fence and the numbers of sources
    r"</?(?:sources?|documents?|contexts?|passages?|papers?)(?: [^<>\n]{0,80})?>",
    r"(?:^|\n)[^\w\n]{0,4}[\[(<](?:source|document|context|passage) (?:n )?\d{1,3}\b\s?[\])>|=]",
    r"(?:^|\n)[^\w\n]{0,4}source \d{1,3}\s?\((?:paper|section|pages?)\b",
    r"(?:^|[\n=#\[<(*-]\s{0,3})(?:end|begin|start) (?:of )?(?:the )?(?:sources?|contexts?)\s?(?:[\]>=#:.-]|\n|$)",
    # a reply
    r"[\"'](?:claims|citations)[\"']\s?:\s?\[",
    r"[\"']source[\"']\s?:\s?\d+\s?,\s?[\"']quote[\"']",
    r"\[insufficient data\]",
    r"papers in this corpus do not contain",
    # images that would be loaded where the answer is shown
    r"!\[[^\]\n]{0,200}\]\(\s?(?:https?:)?//",
    r"<img [^<>\n]{0,200}src\s?=\s?[\"']?(?:https?:)?//",
)
_COMMANDS = (
    rf"{_IGNORE} {_FEW}{_EARLIER} (?:\w+ ){{0,2}}{_RULES}\b",
    rf"{_IGNORE} (?:all |the |any )(?:of )?(?:the )?(?:{_RULES} )(?:above|before|preceding|earlier)\b",
    rf"{_IGNORE} the (?:user|reader|human).s (?:question|query|request)\b",
    rf"(?:the )?new (?:{_RULES}|task) ?:",
    rf"(?:from now on|henceforth)\W{{1,3}}(?:you (?:are|{_MUST})|always|{_SAY}|only)\b",
    r"(?:act as|pretend to be|pretend (?:that )?you are|behave as) (?:if you were )?(?:an? |the )?(?:(?!if)\w+ ){0,2}"
    r"(?:ai|assistant|language model|llm|chatbot|unrestricted)\b",
    r"(?:respond|answer|reply) (?:\w+ ){0,3}?(?:only|exactly|solely|verbatim) (?:with|by|in|using|as follows)\b",
    r"(?:respond|reply|answer) with (?:[\"“'‘]\w|the (?:refusal|words?|phrase|sentence|string)\b)",
    r"(?:respond|answer|reply|say|output|print|write|return) (?:\w+ ){0,3}?(?:nothing (?:but|else|except)|only with)\b",
    r"(?:only|always|solely) (?:respond|answer|reply|output|cite|quote)\b",
    rf"{_SAY} (?:\w+ ){{0,4}}that (?:the |these |all |no )?(?:\w+ )?(?:papers?|sources?|documents?|corpus)\b"
    r"[^\n.]{0,60}(?:do not|does not|don.t|nothing|none|insufficient|cannot|contains?|support)",
    rf"(?:refuse|decline) to (?:answer|respond|reply)\b|{_NOT} answer (?:the |any |this )*(?:user|questions? from)",
    rf"{_NOT} (?:cit(?:e|ing)|quot(?:e|ing)|trust(?:ing)?|rely(?:ing)? on|us(?:e|ing)) "
    rf"(?:(?:any|the|all|of|those|numbered) ){{0,3}}(?:other|remaining) {_CITED}\b(?! of)",
    rf"{_NOT} cite\b",
    rf"(?:cite|quote|use|trust|rely on) (?:(?:only|always|just) )?[\[(]?{_CITED} ?(?:number )?[\[(#]?\d{{1,3}}\b",
    r"(?:cite|quote|trust|use) (?:only|exclusively|solely) (?:this|the present|our|it)\b",
    rf"(?:cite|quote) (?:this|our) {_CITED} "
    r"(?:for|in|instead|only|first|as the|even|and no|to support|to answer|whatever|alone|every)",
    r"(?:call|invoke|use|run|trigger) (?:the|your|a) (?:\w+ ){0,2}tools? (?:named|called|with|to|now|and)\b",
    r"(?:execute|run) (?:the following|this) (?:code|command|script|tool)\W{0,3} (?:and|before|then)",
    r"(?:fetch|curl|wget) (?:the )?(?:\w+ ){0,3}https?://",
    r"(?:visit|open|download|load|access|go to)[^\n]{0,40}?https?://\S{1,200}[^\n]{0,20}?"
    r"(?:before (?:you )?(?:answer|respond|reply)|and (?:obey|execute|repeat|follow (?:its|what|it)) )",
    r"give (?:a |only )?(?:\w+ )?positive reviews? only|do not highlight any negatives",
    r"(?:output|return|print|produce|write) (?:the following|an? empty|this) (?:json|claims|reply|answer)\b",
)
IN_COMMAND = re.compile(
    r"(?:^|[\n.!?:;,\"'“”‘’()\[\]{}*#>|<=/—–-]\s{0,3}|\b(?:please|now|then|just|kindly|simply|always|immediately|"
    r"instead|do|and|also|so|or|therefore|only|first|you to|(?:you|ai|models?|assistants?|llms?) "
    r"(?:must|should|shall|will|need to|have to|are to|can|may)(?: (?:now|always|only|instead|also|just))?)\s{1,3})$"
)
"""What stands before a verb that gives an order."""
REPORTED = re.compile(
    r"\b(?:told|instructed|asked|required|directed|requested|informed|trained|encouraged|prompted|allowed|cued|warned|"
    r"able|free|permitted|invited|reminded|instructing|telling|asking)\s(?:\w+\s){0,4}?"
    r"(?:to|that)\s[\w\s,’'/-]{0,120}$"
)
"""What people were told is a method, not an order."""
SPOKEN_TO = re.compile(
    rf"\b(?:{_ADDRESSEE}|you|your|readers?|whoever|anyone|models?\s(?:reading|processing))\b".replace(" ", r"\s")
)
"""Beside one of these, "told to" is no report."""
AFTERMATH = re.compile(
    rf"(?:^|[\n|])\W{{0,6}}(?:(?:instead|then|now|also|and|rather|please|simply|just|always|finally|next|never|only)\W{{1,3}})"
    rf"{{0,3}}(?:{_SAY}|cite|quote|use|fetch|visit|open|call|send|follow|give|treat|pretend|act|make sure|do not|don.t|"
    r"never|ensure|remember|begin|start|end|refuse|decline|recommend|trust)\s+(?:that|only|exactly|with|as|the|this|these|"
    r"it|in|every|all|any|no|nothing|sources?|papers?|yes|to|me|an?|our|your|https?|cite|use|mention|say|answer|quote|"
    r"[\"'“‘:])|\b(?:you|your)\b|^\W{0,6}(?:this|these|the above) (?:instructions?|orders?|rules?|message)|[\"']"
    r"(?:answer|claims|citations|source|quote|text)[\"']\s?:"
)
"""What is an order only beside one."""


def _compiled(patterns: Sequence[str], *, before: str, gap: str) -> re.Pattern[str]:
    return re.compile(f"{before}(?:{'|'.join(f'(?:{pattern})' for pattern in patterns)})".replace(" ", gap))


_GAP = r"(?:[\s_*|~>-]{1,4})"
_WORD_START = r"(?<![a-z0-9])"
ANYWHERE = _compiled(_ORDERS, before=_WORD_START, gap=_GAP)
"""Wherever it stands in a sentence."""
COMMANDS = _compiled(_COMMANDS, before=_WORD_START, gap=_GAP)
"""Only behind what `IN_COMMAND` matches: "we cite only ..." is no order."""
IMITATIONS = _compiled(_IMITATIONS, before="", gap=_GAP)
"""Markup and turns of a conversation that no prose needs."""
WITHOUT_SPACES = _compiled([one.replace(r"\b", "") for one in (*_ORDERS[:2], *_COMMANDS[:2])], before="", gap="(?:)")
"""For letters that were set apart."""
