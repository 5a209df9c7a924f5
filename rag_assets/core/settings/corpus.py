"""How files become documents, chunks and passages."""

from typing import Literal, Self

from pydantic import Field, model_validator

from rag_assets.core.domain import Source
from rag_assets.core.settings.stage import StageSettings


class ParseLimits(StageSettings):
    """Limits for one file, in a group of their own: a changed limit parses only papers with a
    failed file again."""

    max_file_mb: float = Field(
        100.0, gt=0, description="Largest file that is opened, in MB (10^6 bytes)."
    )
    max_pages: int = Field(3000, gt=0, description="Most pages of one document.")
    max_depth: int = Field(
        200, gt=0, description="Deepest nesting of XML, HTML or JSON that is followed."
    )
    timeout_s: float = Field(
        120.0,
        gt=0,
        description="Seconds of processor time one file may take, or ten times that by the clock; then its worker is "
        "killed.",
    )
    max_memory_mb: int = Field(
        2048, gt=0, description="Address space a worker may add for one file, in MB."
    )


class ParsingSettings(StageSettings):
    """What changes the blocks of a paper."""

    use_text_txt: bool = Field(
        True,
        description="Read `x.txt` when `x.tei.xml` is missing, invalid or empty. Off: quarantine.",
    )
    source_order: tuple[Source, ...] = Field(
        (Source.TEI, Source.ADE, Source.DOCLING, Source.PDF, Source.MARKDOWN, Source.TEXT),
        min_length=1,
        description="Which file of a paper is parsed when it has several, best first; the others are linked.",
    )
    running_header_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Text that recurs on more than this share of the pages (and on 2 at least) is a running header. "
        "Too low drops refrains of the text, too high keeps journal names in every chunk.",
    )
    grobid: str = Field(
        "",
        description="Address of a GROBID server, such as http://127.0.0.1:8070. Every PDF without a better file beside "
        "it is sent there. Empty: nothing is sent.",
    )
    limits: ParseLimits = ParseLimits()


class EnrichmentSettings(StageSettings):
    """What is asked of registries on the internet."""

    contact: str = Field(
        "",
        pattern=r"^(?:[^@\s]+@[^@\s]+)?$",
        max_length=200,
        description="Your e-mail address. With one, Crossref and OpenAlex are asked about the DOIs of the papers: "
        "whether they are retracted, and what the papers and bibliographies do not say; the address goes with each "
        "request, as both ask for. Empty: nothing is asked.",
    )


class ChunkingSettings(StageSettings):
    """What a chunk, the unit that is read and cited, looks like."""

    target_tokens: int = Field(
        1000, gt=0, description="Wanted size. A cut is chosen between 2 x target - max and max."
    )
    max_tokens: int = Field(
        1200, gt=0, description="No chunk is longer; a longer sentence or row is cut."
    )
    overlap_tokens: int = Field(
        150,
        ge=0,
        description="Whole sentences up to this many tokens are repeated from the chunk before. "
        "Too high repeats text in the answers, 0 loses what straddles a cut.",
    )
    min_tokens: int = Field(
        30,
        ge=0,
        description="A shorter section is merged with a neighbour, under the nearest heading they share. "
        "Too high mixes subjects in a chunk, 0 makes chunks of single lines.",
    )
    min_chars: int = Field(80, ge=0, description="Like min_tokens, in characters.")
    include_front: bool = Field(
        False,
        description="Keep a short abstract a chunk of its own, not merged with other front matter.",
    )
    context_tokens: int = Field(
        60,
        ge=0,
        description="Most tokens of context_before and context_after, the words around a chunk in its section.",
    )
    tokenizer: Literal["auto", "cl100k_base", "wordpiece"] = Field(
        "auto",
        description="Counts tokens. auto: cl100k_base if tiktoken can fetch it once, else the packaged WordPiece; "
        "the choice is pinned in data/cache/tokenizer.json so that it never flips by itself.",
    )

    @model_validator(mode="after")
    def _sizes_are_ordered(self) -> Self:
        if self.target_tokens > self.max_tokens:
            raise ValueError(
                f"target_tokens ({self.target_tokens}) must not exceed max_tokens ({self.max_tokens})"
            )
        if self.overlap_tokens >= self.target_tokens:
            raise ValueError(
                f"overlap_tokens ({self.overlap_tokens}) must be smaller than target_tokens ({self.target_tokens})"
            )
        return self


class SummarySettings(StageSettings):
    """What a model writes about each chunk, so that it is found by words it does not have."""

    model: str = Field(
        "none",
        description="A model that says in a sentence what each chunk is about, as provider:model; the sentence is "
        "searched with the chunk, never quoted. One request per chunk and one per paper, each once. none: no model is "
        "asked. The gain was not measured.",
    )


class PassageSettings(StageSettings):
    """What a passage, the unit that is searched, looks like."""

    target_tokens: int = Field(
        160,
        gt=0,
        description="Size in the embedding model's own tokens; capped at what the model reads. 160 (200): answer in "
        "the first chunk of COVID-QA .696 (.655), in five .899 (.889), in 6,000 tokens .949 (.940); Cranfield nDCG@10 "
        ".398 (.408), see benchmarks/quality. Too small cuts answers, too large blurs vectors.",
    )
