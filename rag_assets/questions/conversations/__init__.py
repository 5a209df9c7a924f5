"""Conversations: what was asked and answered before, and what a follow-up question means after it.

No web framework and no Dagster here; the faces that hold conversations import this package.
"""

from rag_assets.questions.conversations.follow_ups import (
    RewritingModel,
    Rewritten,
    Turn,
    after_conversation,
    open_rewriting_model,
    standalone,
)
from rag_assets.questions.conversations.store import (
    Conversation,
    ConversationLimits,
    Conversations,
    ConversationSummary,
    NumberedTurn,
)
