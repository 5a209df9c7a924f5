"""Where the papers that an answer quotes agree, contradict each other, or give different figures; by rules."""

from rag_assets.answering.agreement.groups import MAX_QUOTES, agreement

__all__ = ["MAX_QUOTES", "agreement"]
