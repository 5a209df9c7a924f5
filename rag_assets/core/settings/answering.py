"""How evidence becomes answers, and how answers are evaluated."""

from typing import Literal

from pydantic import Field

from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings.stage import Share, StageSettings


class ExtractiveSettings(StageSettings):
    """How the answerer without a model chooses sentences, in a group of its own: other answers do
    not depend on it."""

    max_claims: int = Field(
        4,
        gt=0,
        description="Most sentences of an extractive answer, or of a part of a thorough one.",
    )
    min_relevance: Share = Field(
        0.6,
        description="What a sentence must reach to answer a part of the question, or to bring in another paper; where "
        "none does, the answer is a refusal. Too low answers what the corpus does not say, too high refuses what it "
        "does: at 0.6, 95 of 100 COVID-QA questions are answered, 48 to 57 with the paper that answers them left out, "
        "7 of another field; at 0.7, 92 or 93, 46 to 51 and 2 to 4 (benchmarks/refusal_threshold.py).",
    )


class JudgeSettings(StageSettings):
    """Which model takes a second look at claims, in a group of its own: another judge asks for no
    new drafts."""

    model: str = Field(
        "same",
        description="A model that compares each claim with its quotes, in one small request for all claims of an "
        "answer: what it finds unsupported is not published, what it finds half supported is marked. same: the model "
        "that writes; otherwise provider:model, better of another family than the one that writes; folder:PATH or "
        "fastembed:REPOSITORY: an ONNX model that tells whether a text entails another, run here. none: rules alone. "
        "Extractive answers are not judged. Of 280 wrong claims rules alone let about a third pass, with a second look "
        "by a capable model none (benchmarks/README.md).",
    )


Effort = Literal["quick", "thorough"]
AUTHOR_YEAR: Literal["author-year"] = "author-year"
NUMERIC: Literal["numeric"] = "numeric"
"""Styles of citing; answers are stored in the first."""


class ThoroughSettings(StageSettings):
    """Limits of a thorough answer: when one is reached, no further step is begun."""

    max_parts: int = Field(
        3, ge=1, le=5, description="Most parts of a question; 1: it is not taken apart."
    )
    max_iterations: int = Field(
        2,
        ge=0,
        le=5,
        description="How often parts without a verified claim are searched in other words; 0: never.",
    )
    max_requests: int = Field(
        20, ge=1, description="Requests to models for one question; kept replies do not count."
    )
    max_seconds: float | None = Field(
        None,
        gt=0,
        description="Time for one question; unset: as long as its requests take, each at most model_access.timeout_s. "
        "An answer that it cut short says so. A model on a laptop may take minutes for each of the parts.",
    )


class AnsweringSettings(StageSettings):
    """How contexts become an answer."""

    model: str = Field(
        "extractive",
        description="Who writes the answer. extractive: sentences of the papers, no model is called. Otherwise "
        "provider:model, e.g. google:gemini-2.5-flash, anthropic:claude-sonnet-5-5, openai:gpt-5-mini, "
        "ollama:llama3.2. RAG_ASSETS_ANSWER_MODEL is a short name for it.",
    )
    max_output_tokens: int = Field(
        8192,
        gt=0,
        description="Most tokens a model may write for one answer, its reasoning included. Too low cuts replies off "
        "in the middle; the complete claims of such a reply are kept.",
    )
    k: int = Field(
        6,
        gt=0,
        description="Chunks retrieved for a question, or for each of its two parts; of more parts fewer each.",
    )
    min_sources: int = Field(2, ge=1, description="Distinct papers an answer should cite.")
    max_withheld_share: Share = Field(
        0.5,
        description="Largest share of the answers of a question file or a report that may be withheld, because nothing "
        "of them keeps the promises about answers. With more, several at least, nothing is published: too high lets a "
        "damaged index replace good answers, too low holds many back for a few.",
    )
    citation_style: Literal["author-year", "numeric"] = Field(
        AUTHOR_YEAR,
        description="How readers see papers cited. author-year: Lund & Moe (2019), p. 3. numeric: [1, p. 3], with the "
        "list of references below an answer. What is stored cites by authors and year: another style asks no question "
        "again.",
    )
    effort: Effort = Field(
        "quick",
        description="quick: one draft, one retry. thorough: each part of a question by itself, and parts that no "
        "verified claim answers again in other words; the bar for claims is the same.",
    )
    compress_to: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Share of the contexts, in characters, that a model behind an API is shown. Below 1, the sentences "
        "and table rows nearest to the question. COVID-QA, answer in what is shown: all .927, half .907, a third .887; "
        "as many tokens of whole passages (retrieval.budget_tokens): half .889, a third .852.",
    )
    thorough: ThoroughSettings = ThoroughSettings()
    extractive: ExtractiveSettings = ExtractiveSettings()
    judge: JudgeSettings = JudgeSettings()

    def fingerprint(self) -> str:
        """Fingerprint of the settings that change a draft: not the effort, which only decides how
        many drafts are asked for, nor the style that readers see, nor what may be withheld, nor
        what is in the identity of the answerer.
        """
        others = {
            "thorough",
            "extractive",
            "judge",
            "effort",
            "compress_to",
            "citation_style",
            "max_withheld_share",
        }
        return fingerprint(type(self).__name__, self.model_dump(mode="json", exclude=others))


class EvaluationSettings(StageSettings):
    """What an evaluation asks and demands."""

    floors: dict[str, float] = Field(
        {},
        description="Smallest accepted mean of a metric, or largest of one where less is better, by its name, e.g. "
        '{"page_accuracy": 0.7}; others keep the floor that docs/evaluation.md gives them.',
    )
    judge: str = Field(
        "none",
        description="A model, provider:model, that reads question, contexts and answer: faithfulness, answer "
        "relevance, correctness and the use of contexts. It must be of another family than the model that answers, "
        "which would pass its own errors. none: what needs a model is not measured.",
    )
