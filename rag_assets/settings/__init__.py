"""Every tunable in one typed tree, and where its values come from."""

from rag_assets.settings.operation import AutomationSettings, ExecutionSettings, ModelAccessSettings, ProviderLimits
from rag_assets.settings.paths import Paths
from rag_assets.settings.sources import DATA_DIR_VARIABLE, environment
from rag_assets.settings.stages import (
    AnsweringSettings,
    ChunkingSettings,
    EmbeddingSettings,
    EvaluationSettings,
    ExtractiveSettings,
    Floors,
    IndexingSettings,
    JudgeSettings,
    ParseLimits,
    ParsingSettings,
    PassageSettings,
    QdrantSettings,
    QuerySettings,
    RetrievalSettings,
    StageSettings,
    SummarySettings,
)
from rag_assets.settings.tree import RENAMED, Settings, load_settings

__all__ = [
    "DATA_DIR_VARIABLE",
    "RENAMED",
    "AnsweringSettings",
    "AutomationSettings",
    "ChunkingSettings",
    "EmbeddingSettings",
    "EvaluationSettings",
    "ExecutionSettings",
    "ExtractiveSettings",
    "Floors",
    "IndexingSettings",
    "JudgeSettings",
    "ModelAccessSettings",
    "ParseLimits",
    "ParsingSettings",
    "PassageSettings",
    "Paths",
    "ProviderLimits",
    "QdrantSettings",
    "QuerySettings",
    "RetrievalSettings",
    "Settings",
    "StageSettings",
    "SummarySettings",
    "environment",
    "load_settings",
]
