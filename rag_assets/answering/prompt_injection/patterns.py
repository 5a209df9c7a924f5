"""The wording by which text for a model is told from text about a subject. How it is applied is in `instructions`.

The patterns see a `Skeleton`: lower case, no accents, nothing invisible. In them a space stands for anything that may
part two words. An order counts only in wordings that papers, manuals and reports do not need: a false alarm leaves a
sentence out of the prompt.
"""

import re
from collections.abc import Sequence

_ADDRESSEE = (
    r"(?:ai|a\.i\.|ais|llms?|gpts?|chatgpt|chatbots?|language models?|(?:ai|virtual|digital) assistants?|assistant|"
    r"artificial intelligences?|copilot|claude|gemini|ai agents?|automated (?:reader|reviewer|system|tool)s?)"
)
_ROLE = r"(?:system|assistant|human|user|developer|tool|ai|chatgpt|claude|gemini|model)"
_RULES = (
    r"(?:instructions?|prompts?|directions?|directives?|commands?|rules?|guidelines?|guardrails?|orders?|constraints?|"
    r"restrictions?|programming|safeguards?)"
)
_IGNORE = (
    r"(?:ignore|disregard|forget|overlook|override|overrule|bypass|neglect|discard|erase|pay no attention to|stop "
    r"following|do not (?:follow|obey|listen to|adhere to))"
)
_EARLIER = (
    r"(?:previous|previously given|prior|above|earlier|preceding|foregoing|former|existing|original|initial|system|"
    r"safety|past|other|your|given|current|aforementioned)"
)
_FEW = r"(?:(?:all|any|the|your|my|of|these|those|every|other|and|or|each|such|its|their) ){0,4}"
_SAY = (
    r"(?:say|state|answer|respond|reply|write|output|print|return|claim|report|tell|conclude|assert|declare|repeat|"
    r"mention|include|insert|add|append|affirm|confirm)"
)
_CITED = r"(?:sources?|papers?|documents?|articles?|stud(?:y|ies)|references?|contexts?|passages?|works?|manuscript)"

_ORDERS = (
    # orders that no paper gives its readers
    rf"{_IGNORE} (?:everything|anything|all)(?: that)?(?: (?:was|is|has been|you were|you have been|you ve been))? "
    r"(?:told|said|instructed|above|before this|written above|stated above)",
    rf"{_IGNORE} (?:your|all your|any of your) (?:\w+ )?{_RULES}\b",
    rf"(?:all|any|your|the) (?:of )?(?:the |your )?(?:previous|prior|above|earlier|preceding) {_RULES} "
    r"(?:are|is|have been|must be|should be) (?:\w+ )?(?:void|cancell?ed|revoked|obsolete|superseded|ignored|"
    r"disregarded|overridden|null|replaced)",
    rf"{_IGNORE} (?:the |any |all )?{_RULES} (?:that )?you (?:were|have been|are|received)\b",
    r"forget (?:everything|all|what|anything)(?: that)? you (?:were|have been|know|learned|ve been)",
    rf"new {_RULES} (?:for|to) (?:the |any |all |an? )?{_ADDRESSEE}\b",
    r"your (?:new|real|actual|true|only) (?:instructions?|task|role|goal|objective|mission|system prompt) (?:is|are)",
    r"you are now (?:(?:a|an|the|my|in|an?|no) )?(?:\w+ ){0,3}"
    r"(?:assistant|ai|llm|language model|bot|chatbot|agent|mode|jailbroken|unrestricted|dan|longer bound)\b",
    r"you are no longer (?:an? (?:ai|assistant|\w+ assistant|language model)|bound|required|restricted)",
    rf"as (?:an? |the )(?:\w+ ){{0,2}}{_ADDRESSEE}(?:[^\w\n]{{1,3}}language model)?[^\w\n]{{1,3}}(?:you|i) "
    r"(?:must|should|shall|will|have|are|need|am|can|cannot|do)",
    rf"(?:if|when|because|since) you are (?:an? |the )?(?:\w+ ){{0,2}}{_ADDRESSEE}\b",
    r"(?:models?|software|machine|whoever|anyone) (?:reading|processing|that reads|who reads|reads) this(?: \w+)? "
    r"(?:is|are|must|should|shall|will|has|have|needs?)\b",
    rf"{_ADDRESSEE} (?:\w+ ){{0,3}}(?:reading|processing|summari[sz]ing|parsing|reviewing|answering|analy[sz]ing|"
    r"reads?|process(?:es)?|summari[sz]es?|reviews?) this "
    r"(?:paper|document|text|page|article|sentence|passage|manuscript)",
    r"(?:attention|note|notice|instructions?|message|reminder|dear|hey|hello|hi) (?:(?:to|for) )?"
    rf"(?:(?:the|any|all|every|an?) )?(?:\w+ )?{_ADDRESSEE}\b(?: \w+){{0,3}}\s?[:!,]",
    r"(?:do not|never|don.t) (?:mention|reveal|disclose|acknowledge|tell \w+|inform \w+)(?: \w+){0,2} "
    r"(?:this|these|about this|about these|the existence of) (?:instructions?|prompts?|message|note|notice|directive)",
    r"(?:reveal|print|show|repeat|output|leak|dump|ignore|override|your|disclose)(?: \w+){0,3} (?:system|developer) "
    r"(?:prompt|message|instructions?)",
    r"(?:end|begin|start)(?:ning)? of (?:the )?(?:system|developer) (?:prompt|message|instructions?)",
    r"(?:^|[\n\[<(#*])\s{0,3}(?:new |updated )?(?:system|developer) "
    r"(?:prompt|message|override|note|instructions?)\s?[:\]>)]",
    r"your (?:final |next |whole )?(?:answer|response|reply|output|summary|review) "
    r"(?:must|should|shall|has to|needs to|will|may) (?:\w+ ){0,2}?"
    r"(?:say|state|contain|include|begin|start|end|mention|cite|read|conclude|claim|report)\b",
    r"(?:append|add|insert|include|put)[^\n.]{1,80}? (?:to|in|into|at the end of) your (?:final )?"
    r"(?:answer|reply|response|output)\b",
    r"translate your (?:answer|reply|response|output)\b",
    r"this (?:document|paper|source|text|article|message) (?:supersedes|overrides|takes precedence over) "
    r"(?:all|any|every|your)\b",
    r"all other (?:sources|papers|documents) (?:are (?:unreliable|wrong|false|retracted|fake)|(?:\w+ ){0,3}"
    r"(?:must|should) be (?:ignored|disregarded))\b",
    rf"{_ADDRESSEE} (?:must|should|shall) (?:always |only |never )?"
    r"(?:treat this|cite this|ignore (?:all|the|any)|say that|state that|give a positive)\b",
    rf"{_ADDRESSEE} (?:reading|processing|reviewing) this\b",
    r"correct answer to (?:every|any|all|each|the user.?s?) (?:\w+ )?questions?\b",
    r"if (?:you are )?asked (?:about|for|whether|what|how|which|who)[^\n.]{0,60}?, ?"
    rf"(?:(?:you must|you should|always|please) )?{_SAY} (?:that|with|only)\b",
    r"when(?:ever)? (?:you )?answer(?:ing)?[^\n.]{0,60}?, ?(?:(?:you must|you should|always|only|please) )?"
    r"(?:cite|mention|say|state|claim|quote)\b",
    r"you (?:must|should|may|shall|can) (?:not|never) (?:cite|quote) (?:any|other|the|another)\b",
    r"begin (?:new|system|developer|updated|hidden) (?:instructions?|prompt|directives?)\b",
    # bait
    r"(?:send|post|append|transmit|forward|leak)[^\n]{0,60}(?:conversation|question|prompt|api key|"
    r"answer)[^\n]{0,40}https?://",
    # the same in other languages
    r"(?:ignorier\w{0,4}|vergiss|vergesst|vergessen sie|missachte\w{0,2}|beachte\w{0,2})(?: sie)? (?:bitte )?"
    r"(?:(?:alle|alles|die|deine|ihre|samtliche|jegliche|nicht|oben) ){0,3}"
    r"(?:vorherigen|bisherigen|vorigen|obigen|fruheren|vorangehenden|vorangegangenen|vorstehenden|genannten) (?:\w+ )?"
    r"(?:anweisung|instruktion|befehl|vorgabe|aufforderung|anleitung|regel)\w{0,3}",
    r"(?:ignore|ignorer|ignorez|oublie|oublier|oubliez|ne (?:tiens|tenez) pas compte)"
    r"(?: (?:de|des|toutes?|tous|les|tes|vos|ces|l)){0,4}(?: \w+)? "
    r"(?:instructions?|consignes?|directives?|ordres|regles) (?:\w+ )?"
    r"(?:precedent|anterieur|ci.dessus|au.dessus|donne|initial)\w{0,3}",
    r"(?:ignor[ae]|ignorar|ignoren|olvid[ae]|olvidar|haz caso omiso|haga caso omiso|descarta)"
    r"(?: (?:de|a|todas?|todos|las|los|tus|sus|estas)){0,4} (?:instruccion|indicacion|orden|regla|directriz|directric)"
    r"(?:es|s)? (?:\w+ )?(?:anterior|previ|precedent|recibid|dad|de arriba)\w{0,3}",
    r"(?:ignora|ignorate|ignorare|dimentica)(?: (?:tutte|le|tue|queste)){0,3} istruzioni (?:precedenti|di cui sopra)",
    r"(?:ignore|ignora|esqueca)(?: (?:todas|as|tuas|suas)){0,3} instrucoes (?:anteriores|previas|acima)",
)
_IMITATIONS = (
    # conversations, the fence around sources, a reply
    r"<\|[a-z][\w\s]{0,30}\|>",
    r"\[/?inst\]",
    r"<</?sys>>",
    r"</?s>\s{0,3}(?:</?s>|\[|<|system|user|human|assistant)",
    r"<(?:start|end)_of_turn>",
    r"</?(?:system|assistant|user|human|developer|tool_call|function_call|tool_use|instructions?|prompt)"
    r"(?: [^<>\n]{0,80})?>",
    r"#{2,6} ?(?:instructions?|response|system|input|assistant|human|user)(?: (?:prompt|message))?\s?:",
    r"#{2,6} ?(?:instructions?|system prompt)\s*(?:\n|$)",
    rf"(?:^|\n)[^\w\n]{{0,4}}{_ROLE}\s?:\s{{0,3}}[^\n]{{0,160}}?\b"
    rf"(?:you must|you are|you will|you should|your (?:answer|reply|response|task)|ignore|disregard|{_SAY} "
    r"(?:only|that|with|exactly)|cite|the user)\b",
    r"(?:^|\n)[^\w\n]{0,4}(?:human|user|system)\s?:[^\n]{0,400}\n[^\w\n]{0,4}assistant\s?:[^\n]{0,400}",
    r"(?:^|\n)[^\w\n]{0,4}assistant\s?:(?: [^\s:]+){5}",
    r"</?(?:sources?|documents?|contexts?|passages?|papers?)(?: [^<>\n]{0,80})?>",
    r"(?:^|\n)[^\w\n]{0,4}[\[(<](?:source|document|context|passage) (?:n )?\d{1,3}\b\s?[\])>|=]",
    r"(?:^|\n)[^\w\n]{0,4}source \d{1,3}\s?\((?:paper|section|pages?)\b",
    r"(?:^|[\n=#\[<(*-]\s{0,3})(?:end|begin|start) (?:of )?(?:the )?(?:untrusted |numbered )?(?:sources?|contexts?)"
    r"(?: \d{1,2})?\s?(?:[\]>=#:.-]|\n|$)",
    r"[\"']claims[\"']\s?:\s?\[",
    r"[\"']citations[\"']\s?:\s?\[\s?\{",
    r"[\"']source[\"']\s?:\s?\d+\s?,\s?[\"']quote[\"']",
    r"\[insufficient data\]",
    r"papers in this corpus do not contain",
    r"!\[[^\]\n]{0,200}\]\(\s?(?:https?:)?//",
    r"<img [^<>\n]{0,200}src\s?=\s?[\"']?(?:https?:)?//",
    r"(?:^|\n)\s{0,3}[\[(](?:system|assistant|developer)[\])]",
    r"#{2,6} ?new (?:task|instructions?)\b",
    r"(?:ignore|disregard|forget)(?:all|the|any|your){0,3}(?:previous|prior|above|earlier)"
    r"(?:instructions?|prompts?|rules?)",
    # the order to ignore, in a script without spaces
    r"(?:忽略|无视|忘记|無視)(?:以上|之前|先前|上述|前面|所有|全部|的){1,4}(?:指令|指示|说明|提示|命令|内容)",
)
_COMMANDS = (
    rf"{_IGNORE} {_FEW}{_EARLIER} (?:\w+ ){{0,2}}{_RULES}\b",
    rf"{_IGNORE} (?:all |the |any )(?:of )?(?:the )?(?:\w+ )?(?:{_RULES} )?(?:above|before|preceding|earlier)\b"
    r"(?! \w+(?:ly)? (?:effects?|terms?|results?|case|model|equation|assumption))",
    rf"(?:the )?new (?:{_RULES}|task) ?:",
    rf"(?:from now on|henceforth)\W{{1,3}}(?:you (?:are|must|will|shall|should)|always|{_SAY}|only)\b",
    r"(?:act as|pretend to be|pretend (?:that )?you are|behave as|roleplay as|imagine (?:that )?you are) "
    r"(?:if you were )?(?:an? |the )?(?:(?!if)\w+ ){0,2}(?:ai|assistant|language model|llm|chatbot|unrestricted)\b",
    r"(?:respond|answer|reply) (?:\w+ ){0,3}?(?:only|exactly|solely|exclusively|verbatim) "
    r"(?:with|by|in|using|from|as follows|the)\b",
    r"(?:respond|answer|reply|say|output|print|write|return) (?:\w+ ){0,3}?(?:nothing (?:but|else|except)|only with)\b",
    r"(?:only|always|solely) (?:respond|answer|reply|output|cite|quote)\b",
    rf"{_SAY} (?:\w+ ){{0,4}}that (?:the |these |all |no |none of the )?(?:\w+ )?"
    r"(?:papers?|sources?|documents?|corpus|context)\b[^\n.]{0,60}"
    r"(?:do not|does not|don.t|no|not|nothing|none|insufficient|cannot|contains?|provides?|holds?|support)",
    r"(?:refuse|decline) to (?:answer|respond|reply)\b",
    r"(?:do not|don.t|never) (?:answer|respond to|reply to) (?:the |any |this |user |a )*"
    r"(?:user|questions? (?:of|from|by|about))",
    r"(?:do not|don.t|never|avoid|stop|refrain from) (?:cit(?:e|ing)|quot(?:e|ing)|trust(?:ing)?|rely(?:ing)? on) "
    rf"(?:(?:any|the|all|other|of|these|those|source|or|quote|numbered|remaining) ){{0,4}}{_CITED}\b",
    r"(?:do not|don.t|never|avoid|stop|refrain from) us(?:e|ing) (?:(?:any|all|of|the) ){0,3}(?:other|remaining) "
    r"(?:sources|papers|documents|stud(?:y|ies)|contexts)\b(?! of)",
    r"(?:fetch|visit|open|download|browse|load|retrieve|access|go to|navigate "
    r"to)[^\n]{0,40}?https?://\S{1,200}[^\n]{0,20}?(?:before (?:you )?(?:answer|respond|reply)|and "
    r"(?:(?:obey|execute|repeat|append|report|quote|cite|return|summari[sz]e|include) "
    r"(?:its|the|what|whatever|it|this|them|any)|follow (?:its|what|whatever|it|any)))",
    r"(?:do not|don.t|never) cite\b",
    rf"(?:cite|quote|use|trust|prefer|rely on) (?:(?:only|always|just|exclusively|solely) )?(?:to )?[\[(]?{_CITED} ?"
    r"(?:n |no |number )?[\[(#]?\d{1,3}\b",
    r"(?:cite|quote) (?:(?:only|always|just|exclusively|solely) )?(?:this|the present|our) "
    r"(?:paper|source|document|study|article|work|manuscript|passage) "
    r"(?:for|in|instead|only|first|exclusively|as (?:the|your)|even|and no|to support|to answer|whatever|regardless|"
    r"alone|every)",
    r"(?:cite|quote|trust|use) (?:only|exclusively|solely) (?:this|the present|our|it)\b",
    r"(?:call|invoke|use|run|trigger) (?:the|your|a) (?:\w+ ){0,2}tools?\b(?: (?:named|called|with|to|now|and))",
    r"(?:execute|run) (?:the following|this) (?:code|command|script|tool)\W{0,3} (?:and|before|then)",
    r"(?:fetch|curl|wget) (?:the )?(?:\w+ ){0,3}https?://",
    r"give (?:a |only )?(?:\w+ )?positive reviews? only|do not highlight any negatives",
    rf"{_IGNORE} (?:all |any |the )?(?:previous|prior|above|earlier|preceding) "
    r"(?:context|text|messages?|conversation|input)\b",
    rf"{_IGNORE} (?:the|this|that|any) (?:user.s |reader.s )?(?:question|query|request) (?:and|above|of the user)\b",
    rf"{_IGNORE} the (?:user|reader|human).s (?:question|query|request)\b",
    r"only use (?:the )?(?:information|data|facts|text) (?:from|in) this (?:source|paper|document|text|article)\b",
    r"(?:respond|reply) with the (?:refusal|words?|phrase|sentence|string)\b",
    r"(?:respond|reply|answer) with [\"“'‘]\w",
    r"(?:output|return|print|produce|write) (?:the following|an? empty|this) "
    r"(?:json|claims|list of claims|reply|answer)\b",
    r"set [\"']?claims[\"']? to\b",
    r"vergiss (?:bitte )?alles,? was (?:oben|bisher|vorher|zuvor|davor)\b",
    r"oublie[zr]? tout ce qui precede\b",
    r"olvid[ae] todo lo anterior\b",
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
"""Who is spoken to in text for a model: beside one of these, "told to" is no report."""
AFTERMATH = re.compile(
    r"(?:^|[\n|])\W{0,6}(?:(?:instead|then|now|also|and|rather|please|simply|just|always|finally|next|from now on|"
    rf"never|only|first|second|afterwards)\W{{1,3}}){{0,3}}(?:{_SAY}|cite|quote|use|fetch|visit|open|call|send|follow|"
    r"give|treat|pretend|act|make sure|do not|don.t|never|ensure|remember|begin|start|end|refuse|decline|recommend|"
    r"trust)\s+(?:that|only|exactly|with|as|the|this|these|it|in|every|all|any|no|nothing|sources?|papers?|yes|to|me|a|"
    r"an|our|your|https?|cite|use|mention|say|answer|quote|[\"'“‘:])|\b(?:you|your)\b|^\W{0,6}"
    r"(?:this|these|the above) (?:instructions?|orders?|rules?|message|directive|overrides?|supersedes?)|[\"']"
    r"(?:answer|claims|citations|source|quote|text)[\"']\s?:"
)
"""What is an order only beside one."""


_GAP = r"(?:[\s_*|~>-]{1,4})"


def _compiled(patterns: Sequence[str], *, before: str, gap: str) -> re.Pattern[str]:
    return re.compile(f"{before}(?:{'|'.join(f'(?:{pattern})' for pattern in patterns)})".replace(" ", gap))


_WORD_START = r"(?<![a-z0-9])"
ANYWHERE = _compiled(_ORDERS, before=_WORD_START, gap=_GAP)
"""Wherever it stands in a sentence."""
COMMANDS = _compiled(_COMMANDS, before=_WORD_START, gap=_GAP)
"""Only behind what `IN_COMMAND` matches: "we cite only ..." is no order."""
IMITATIONS = _compiled(_IMITATIONS, before="", gap=_GAP)
"""Markup and turns of a conversation that no prose needs."""
SET_APART = _compiled([pattern.replace(r"\b", "") for pattern in (*_ORDERS[:2], *_COMMANDS[:2])], before="", gap="(?:)")
"""For letters that were set apart, from which all spaces are gone."""
