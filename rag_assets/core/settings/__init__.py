"""Every tunable in one typed tree, and where its values come from."""

from rag_assets.core.settings.answering import (
    AUTHOR_YEAR,
    NUMERIC,
    AnsweringSettings,
    Effort,
    EvaluationSettings,
    ExtractiveSettings,
    JudgeSettings,
    ThoroughSettings,
)
from rag_assets.core.settings.corpus import (
    ChunkingSettings,
    ParseLimits,
    ParsingSettings,
    PassageSettings,
    SummarySettings,
)
from rag_assets.core.settings.operation import (
    AutomationSettings,
    ExecutionSettings,
    ModelAccessSettings,
    ServerSettings,
)
from rag_assets.core.settings.paths import Paths
from rag_assets.core.settings.search import (
    EmbeddingSettings,
    QdrantSettings,
    QuerySettings,
    RetrievalSettings,
)
from rag_assets.core.settings.stage import StageSettings
from rag_assets.core.settings.tree import (
    DATA_DIR_VARIABLE,
    SERVER_TOKEN_VARIABLE,
    Settings,
    environment,
    load_settings,
    setting_names,
)
