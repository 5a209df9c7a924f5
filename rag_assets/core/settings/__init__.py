"""Every tunable in one typed tree, and where its values come from."""

from rag_assets.core.settings.addresses import host_of, key_for, tell_origin
from rag_assets.core.settings.operation import (
    AutomationSettings,
    ExecutionSettings,
    ModelAccessSettings,
    ServerSettings,
)
from rag_assets.core.settings.paths import Paths
from rag_assets.core.settings.stages import (
    AUTHOR_YEAR,
    NUMERIC,
    AnsweringSettings,
    ChunkingSettings,
    Effort,
    EmbeddingSettings,
    EvaluationSettings,
    ExtractiveSettings,
    JudgeSettings,
    ParseLimits,
    ParsingSettings,
    PassageSettings,
    QdrantSettings,
    QuerySettings,
    RetrievalSettings,
    StageSettings,
    SummarySettings,
    ThoroughSettings,
)
from rag_assets.core.settings.tree import (
    DATA_DIR_VARIABLE,
    SERVER_TOKEN_VARIABLE,
    Settings,
    environment,
    load_settings,
    setting_names,
)
