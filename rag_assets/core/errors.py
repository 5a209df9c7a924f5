"""Every error this project raises on purpose.

A message says which file, what was found against what was wanted, and what to do. Classes carry
nothing but their message, so that they survive the trip back from a worker process.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

_SHOWN_REPLY_CHARS = 200
_SHOWN_LINES = 20


class RagAssetsError(Exception):
    """Base of all errors a user can act on; the command line prints them without a traceback."""


class InvalidSettings(RagAssetsError):
    """A setting is unknown, out of bounds or contradicts another."""


class InvalidSelection(InvalidSettings):
    """A selection of assets cannot be read or names none."""


class MissingInput(RagAssetsError):
    """A folder, file or upstream table that must exist does not."""

    @classmethod
    def table(cls, path: Path, *, asset: str) -> Self:
        """A file of an asset, two folders below the data folder."""
        return cls(f"{path} does not exist. Materialize `{asset}` first: {_run_of(asset, path)}")

    @classmethod
    def unusable_table(cls, path: Path, *, problem: str, asset: str) -> Self:
        return cls(f"{path} {problem}. Materialize `{asset}` again: {_run_of(asset, path)}")

    @classmethod
    def index(cls, data_dir: Path) -> Self:
        """Nothing can be searched yet."""
        return cls(
            f"There is no index in {data_dir} that can be searched. Make it, and what it needs, from the papers: "
            f"rag-assets index build{data_option(data_dir)}"
        )


class MissingExtra(RagAssetsError):
    """An optional dependency is not installed."""

    @classmethod
    def named(cls, extra: str, *, purpose: str) -> Self:
        return cls(
            f"{purpose} needs an optional dependency. Install it with: pip install 'rag_assets[{extra}]'"
        )


class MissingModel(RagAssetsError):
    """The weights of an embedding model cannot be had, or are not the expected ones."""


class MissingKey(RagAssetsError):
    """A model behind an API is asked for, and the variable that holds its key is not set."""

    @classmethod
    def of(cls, provider: str, variables: Sequence[str]) -> Self:
        return cls(
            f"Models of {provider} need a key. Set {' or '.join(variables)} in the environment or in .env, or use what "
            'needs none: answering.model = "extractive", answering.judge.model = "none", a local embedding.model.'
        )


class Unanswered(RagAssetsError):
    """A question has no answer for now. What was spent on it is noted where the question is known."""

    spent: Any = None
    """A `Usage`, where it is known."""
    seconds: float = 0.0


class ModelFault(Unanswered):
    """A model behind an API did not answer one request."""

    what: str = ""
    """What happened, without the remedy; empty where the message has none."""


class ModelUnavailable(ModelFault):
    """The model does not answer for now: rate limit, server error, time-out, broken connection.
    Worth another try."""

    retry_after_s: float | None = None
    """Seconds the provider asked to wait, where it said so."""


class RequestRejected(ModelFault):
    """The model will never answer this request."""


class ContextTooLong(RequestRejected):
    """The request is longer than the model reads."""


class SchemaRefused(RequestRejected):
    """The request holds a schema for the answer, and the server knows no such thing."""


_NO_ANSWER = {
    "withheld": "The provider of {model} withheld its reply (a content filter)",
    "refused": "{model} refused to answer",
    "cut": "The reply of {model} was cut by the output limit, also after it was asked to be brief",
    "tool call": "{model} called a tool, and there is none",
    "reasoning only": "{model} wrote down its reasoning and no answer",
    "empty": "{model} wrote nothing that can be seen",
    "other language": "The reply of {model} is in another language than the question, also after it was asked again",
    "text": "The reply of {model} cannot be read as an answer. It wrote: {reply!r}",
}
"""What a model did in place of an answer, by the way its reply ended."""


class UnreadableReply(RequestRejected):
    """What the model replied, also after it was asked again, is neither an answer nor a refusal."""

    @classmethod
    def of(cls, model: str, ended: str, reply: str = "") -> Self:
        """ended: a key of `_NO_ANSWER`."""
        shown = " ".join(reply.split())[:_SHOWN_REPLY_CHARS]
        what = f"{_NO_ANSWER[ended].format(model=model, reply=shown)}."
        fault = cls(
            f"{what} The question is asked again by the next run; if that does not help, raise "
            "answering.max_output_tokens or name another model."
        )
        fault.what = what
        return fault

    @classmethod
    def too_often(cls, n: int, why: str) -> Self:
        """why: what the last reply was."""
        return cls(
            f"{why} After {n} such replies it is not asked again before the question, the papers or the settings "
            "change; rag-assets ask --again asks it."
        )


class AccessDenied(ModelFault):
    """The model will answer no request: the key is refused, the quota used up, or there is no such
    model."""


class QuestionBudgetExhausted(ModelFault):
    """The question has spent the requests, tokens, money or time it may; other questions go on."""


class RerankingTooSlow(RagAssetsError):
    """A reranker took longer than a question may wait for it."""

    @classmethod
    def after(cls, seconds: float, *, model: str) -> Self:
        return cls(
            f"{model} took more than {seconds:g} s for one question. Name a faster model in retrieval.reranker."
        )


class BudgetExhausted(Unanswered):
    """A run has spent the requests, tokens or money it may."""


class StoreUnavailable(RagAssetsError):
    """A database does not answer for now: the server is down or too slow, or another process has
    its folder open."""


class StoreRefused(RagAssetsError):
    """A database server refuses the key or a request; asking again does not help."""


class ServiceUnavailable(RagAssetsError):
    """A server that is to read the PDFs does not answer at all, or is not what it should be."""


class ClusterUnavailable(RagAssetsError):
    """The machines that are to do the work cannot be reached, or have another version of the
    software."""


class WorkLost(RagAssetsError):
    """Work that no paper can be left out for failed, or ended its process."""


class StaleIndex(RagAssetsError):
    """Something on disk describes other passages, or another model, than this run asks for."""


class UnreadableDocument(RagAssetsError):
    """One document cannot be used; it is quarantined with this reason and the corpus goes on
    without it."""


class AnotherPaper(UnreadableDocument):
    """What a server made of a PDF is the text of another paper."""


class DocumentLimit(UnreadableDocument):
    """One document passed a size, depth, page, memory or time limit."""


class InvalidQuestions(RagAssetsError):
    """A question file has a line that cannot be used."""

    @classmethod
    def at(cls, path: Path, problems: Mapping[int, str]) -> Self:
        """problems: by the number of their line."""
        named = [
            f"{path}, line {line}: {problem.rstrip('.')}." for line, problem in problems.items()
        ]
        more = len(named) - _SHOWN_LINES
        return cls(
            "\n".join(
                [*named[:_SHOWN_LINES], *([f"... and {more} more lines."] if more > 0 else [])]
            )
            + ' Each line is a JSON object with at least "id" and "question"; mend them and run again.'
        )


class InvalidFilter(RagAssetsError):
    """The text of a filter cannot be read."""

    @classmethod
    def at(cls, word: str, problem: str) -> Self:
        return cls(f"The filter cannot be used at {word}: {problem}.")


class InvalidQuote(RagAssetsError):
    """A text that is to be looked up is too short or too long."""


class NotFound(RagAssetsError):
    """A paper, section, chunk or page that is asked for is not there."""


class UploadRefused(RagAssetsError):
    """An uploaded file cannot be a paper: its name, or what it holds."""


class UploadTooLarge(UploadRefused):
    """An uploaded file is larger than uploads may be."""


class CorpusConflict(RagAssetsError):
    """An upload, deletion or restoration does not fit the papers that are there."""


class InvalidTemplate(RagAssetsError):
    """The template of a report has a line that cannot be used."""

    @classmethod
    def at(cls, path: Path, place: str, problem: str) -> Self:
        return cls(f"{path}, {place}: {problem}.")


class BusyDataFolder(RagAssetsError):
    """Another run is writing the data folder."""

    @classmethod
    def at(cls, data_dir: Path) -> Self:
        return cls(
            f"Another run is writing {data_dir}. Wait for it, or end it in the Dagster UI, then try again."
        )


class UnknownConversation(RagAssetsError):
    """A conversation is asked for that is not kept."""


class TurnTooLarge(RagAssetsError):
    """An answer is too large to be kept with its conversation."""

    @classmethod
    def of(cls, n_bytes: int, max_bytes: int) -> Self:
        return cls(
            f"The answer has {n_bytes:,} bytes, and {max_bytes:,} are kept of one. The conversation goes on without it."
        )


class UIUnavailable(RagAssetsError):
    """The Dagster UI cannot be served: port taken, running already, ended by itself."""


class ServerUnavailable(RagAssetsError):
    """The HTTP server cannot listen at its address."""


class ReadOnlyFolder(RagAssetsError):
    """A folder that must be written cannot be: missing rights, or a read-only disk."""

    @classmethod
    def at(cls, folder: Path) -> Self:
        return cls(
            f"{folder} cannot be written. Nothing was changed. Give this user the right to write it, or work on a copy "
            "of the data folder (--data); rag-assets ask, retrieve and status need to read it only."
        )


class GuardrailBroken(RagAssetsError):
    """An audit failed, so nothing was published and the last good files are still in place."""


def data_option(data: Path) -> str:
    """What a command needs to work on this data folder, with a blank before it; nothing for the
    default folder."""
    return "" if data == Path("data") else f" --data {shlex.quote(str(data))}"


def _run_of(asset: str, path: Path) -> str:
    return f"rag-assets run --select +{asset}{data_option(path.parent.parent)}"
