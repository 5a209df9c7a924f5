"""Follow-up questions read by rules, without a model.

Each rule knows one kind of follow-up and says None where it does not apply. Where two readings are possible, the
question is asked as it stands: a wrong reading answers a question that nobody asked.
"""

from collections.abc import Sequence

from rag_assets.conversations.fragments import completed
from rag_assets.conversations.paper_references import about_papers
from rag_assets.conversations.pronouns import spelled_out
from rag_assets.conversations.turns import Rewritten, Turn


def by_rules(question: str, turns: Sequence[Turn]) -> Rewritten:
    """turns: those before, at least one, oldest first."""
    return (
        about_papers(question, turns)
        or completed(question, turns[-1])
        or spelled_out(question, turns[-1])
        or Rewritten.as_it_stands(question)
    )
