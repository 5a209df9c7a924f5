"""Answers in several steps: each part of the question is asked, and unanswered parts are searched in other words."""

from rag_assets.answering.model.thorough.loop import ThoroughPipeline
from rag_assets.answering.model.thorough.planner import ModelPlanner, open_planner
from rag_assets.answering.model.thorough.plans import Planner, RulePlanner
from rag_assets.answering.model.thorough.union import THOROUGH_VERSION

__all__ = ["THOROUGH_VERSION", "ModelPlanner", "Planner", "RulePlanner", "ThoroughPipeline", "open_planner"]
