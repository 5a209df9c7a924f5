"""Who takes a second look at the claims of an answer: judges behind one seam, and what is done with their verdicts."""

from rag_assets.answering.model.judges.base import ClaimJudge, ClaimVerdicts
from rag_assets.answering.model.judges.opening import judge_files, judge_name, open_judge
from rag_assets.answering.model.judges.second_look import JudgedSupport

__all__ = ["ClaimJudge", "ClaimVerdicts", "JudgedSupport", "judge_files", "judge_name", "open_judge"]
