"""Questions: their files, and what a question asks."""

from rag_assets.questions.files import MAX_QUESTION_CHARS, ExpectedPaper, Question, asked, load_questions
from rag_assets.questions.reading import Kind, QuestionPart, QuestionReading, read

__all__ = [
    "MAX_QUESTION_CHARS",
    "ExpectedPaper",
    "Kind",
    "Question",
    "QuestionPart",
    "QuestionReading",
    "asked",
    "load_questions",
    "read",
]
