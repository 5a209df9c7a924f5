"""Answers that take several steps: parts of the question, and parts that nothing answered searched in other words."""

from rag_assets.answering.model.thorough.loop import ThoroughPipeline
from rag_assets.answering.model.thorough.planner import ModelPlanner, open_planner
from rag_assets.answering.model.thorough.plans import Planner, RulePlanner
from rag_assets.answering.model.thorough.union import THOROUGH_VERSION

__all__ = ["THOROUGH_VERSION", "ModelPlanner", "Planner", "RulePlanner", "ThoroughPipeline", "open_planner"]
