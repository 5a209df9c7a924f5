"""Questions: their files, and what a question asks."""

from rag_assets.questions.files import (
    MAX_QUESTION_CHARS,
    ExpectedPaper,
    Question,
    asked,
    load_questions,
    said,
)
from rag_assets.questions.reading import (
    NO_WORDS,
    QuestionKind,
    QuestionPart,
    QuestionReading,
    ReadQuestion,
    asked_text,
    has_words,
    read,
)
