"""Questions: their files, and what a question asks."""

from rag_assets.questions.files import MAX_QUESTION_CHARS, ExpectedPaper, Question, asked, load_questions, said
from rag_assets.questions.reading import NO_WORDS, Kind, QuestionPart, QuestionReading, has_words, read
