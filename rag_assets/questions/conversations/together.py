"""A follow-up with few words of its own ("Why?", "And for children?") is asked together with the question before it.

The answer before is not added: a sentence that was just quoted would be found again first.
"""

import re

from rag_assets.core.text.terms import terms_of
from rag_assets.questions.conversations.turns import Rewritten, Turn

MAX_OWN_WORDS = 2
"""Content words of a follow-up; one with more of them may be about something else, and is asked as it stands."""
_MAX_BEFORE_CHARS = 300
_PARTS_A_QUESTION = re.compile(r"[?,;:()]+")
"""Signs that would make several questions of one."""
_REASON = "Asked together with the question before it, which stands in brackets."


def with_the_question_before(question: str, before: Turn) -> Rewritten | None:
    """The follow-up with the question before it in brackets; None where it says enough by itself."""
    if len(terms_of(question)) > MAX_OWN_WORDS or not terms_of(before.asked.question):
        return None
    earlier = " ".join(_PARTS_A_QUESTION.sub(" ", before.asked.question[:_MAX_BEFORE_CHARS]).split())
    text = f"{question.strip().rstrip('?. ')}? ({earlier})"
    return Rewritten(text, is_rewritten=True, reason=_REASON, paper_ids=before.asked.paper_ids)
