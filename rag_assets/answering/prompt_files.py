"""The prompts of answers and verdicts: files in `prompts/`."""

from rag_assets.hosted.prompts import load_prompt

_PACKAGE = "rag_assets.answering"
INSTRUCTIONS = load_prompt(_PACKAGE, "answer", frozenset({"min_sources", "refusal", "insufficient"}))
QUESTION = load_prompt(_PACKAGE, "question", frozenset({"sources", "question"}))
QUESTION_WITHIN = load_prompt(_PACKAGE, "question_within", frozenset({"sources", "question", "background"}))
JUDGE_INSTRUCTIONS = load_prompt(_PACKAGE, "judge", frozenset())
JUDGED_CLAIM = load_prompt(_PACKAGE, "judged_claim", frozenset({"number", "claim", "quotes"}))
