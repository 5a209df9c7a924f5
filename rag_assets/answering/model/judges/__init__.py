"""Models that judge whether the quotes of a claim support it, and what is done with their verdicts."""

from rag_assets.answering.model.judges.base import ClaimJudge, ClaimVerdicts
from rag_assets.answering.model.judges.second_look import JudgedSupport, judge_files, judge_name, open_judge

__all__ = ["ClaimJudge", "ClaimVerdicts", "JudgedSupport", "judge_files", "judge_name", "open_judge"]
