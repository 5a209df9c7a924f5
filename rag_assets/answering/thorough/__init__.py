"""Answers that take several steps: parts of the question, and parts that nothing answered searched in other words."""

from rag_assets.answering.thorough.loop import THOROUGH_VERSION, ThoroughPipeline
from rag_assets.answering.thorough.planner import ModelPlanner, Planner, RulePlanner, open_planner

__all__ = ["THOROUGH_VERSION", "ModelPlanner", "Planner", "RulePlanner", "ThoroughPipeline", "open_planner"]
