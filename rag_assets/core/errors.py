"""Every error that this project raises on purpose.

A message says which file, what was found and what was expected, and what to do. Errors are built
from their message alone, so that they can be sent back from a worker process (pickled).

The errors of a full disk are recognised here, too: each library reports it with another class and
other words.
"""

import errno
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

_SHOWN_REPLY_CHARS = 200
_SHOWN_LINES = 20


class RagAssetsError(Exception):
    """Base of all errors about which a user can do something; the command line prints them without
    a traceback."""


class InvalidSettings(RagAssetsError):
    """A setting is unknown, out of bounds or contradicts another."""


class InvalidSelection(InvalidSettings):
    """A selection of assets cannot be read or names none."""


class MissingInput(RagAssetsError):
    """A folder, file or upstream table that must exist does not."""

    @classmethod
    def table(cls, path: Path) -> Self:
        """path: see `_how_to_make`."""
        return cls(f"{path} does not exist. {_how_to_make(path)}")

    @classmethod
    def unusable_table(cls, path: Path, *, problem: str) -> Self:
        return cls(f"{path} {problem}. {_how_to_make(path)}")

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
    """The weights of an embedding model cannot be loaded, or are not the expected ones."""


class MissingKey(RagAssetsError):
    """A model behind an API is to be used, but the environment variable with its key is not
    set."""

    @classmethod
    def of(cls, provider: str, variables: Sequence[str]) -> Self:
        return cls(
            f"Models of {provider} need a key. Set {' or '.join(variables)} in the environment or in .env, or use what "
            'needs none: answering.model = "extractive", answering.judge.model = "none", a local embedding.model.'
        )


class Unanswered(RagAssetsError):
    """A question cannot be answered now. The code that knows the question adds what was spent on
    it."""

    spent: Any = None
    """A `Usage`; None if it is not known."""
    seconds: float = 0.0


class ModelFault(Unanswered):
    """A model behind an API did not answer one request."""

    what: str = ""
    """What happened, without the remedy; empty where the message has none."""


class ModelUnavailable(ModelFault):
    """The model does not answer now: rate limit, server error, time-out, broken connection. The
    request may be sent again."""

    retry_after_s: float | None = None
    """Seconds that the provider asked to wait; None if it did not."""


class RequestRejected(ModelFault):
    """The model will never answer this request."""


class ContextTooLong(RequestRejected):
    """The request is longer than the context of the model."""


class SchemaRefused(RequestRejected):
    """The server does not support the schema for the answer in the request."""


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
    """The reply of the model is neither an answer nor a refusal, also after a second request."""

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
    """The model will answer no request: the key is refused, the quota is used up, or there is no
    such model."""


class QuestionBudgetExhausted(ModelFault):
    """The question has used up its requests, tokens, money or time; other questions are still
    answered."""


class RerankingTooSlow(RagAssetsError):
    """A reranker took longer than a question may wait for it."""

    @classmethod
    def after(cls, seconds: float, *, model: str) -> Self:
        return cls(
            f"{model} took more than {seconds:g} s for one question. Name a faster model in retrieval.reranker."
        )


class BudgetExhausted(Unanswered):
    """A run has used up its requests, tokens or money."""


class StoreUnavailable(RagAssetsError):
    """A database does not answer now: the server is down or too slow, or another process has its
    folder open."""


class StoreRefused(RagAssetsError):
    """A database server refuses the key or a request; asking again does not help."""


class ServiceUnavailable(RagAssetsError):
    """The server that should read the PDFs does not answer, or is no such server."""


class ClusterUnavailable(RagAssetsError):
    """The machines that should do the work cannot be reached, or have another version of the
    software."""


class WorkLost(RagAssetsError):
    """Work failed or crashed its process, and the run cannot continue without its result."""


class StaleIndex(RagAssetsError):
    """A file on disk was made from other passages or with another model than this run needs."""


class UnreadableDocument(RagAssetsError):
    """One document cannot be used; it is quarantined with this reason, and the other documents are
    processed."""


class NotTheSource(UnreadableDocument):
    """A document is not to be used, because another file of its paper shows that it is of another
    paper, or cut off."""


class DocumentLimit(UnreadableDocument):
    """One document passed a size, depth, page, memory or time limit."""


class InvalidQuestions(RagAssetsError):
    """A question file has a line that cannot be used."""

    @classmethod
    def at(cls, path: Path, problems: Mapping[int, str]) -> Self:
        """problems: number of a line -> its problem."""
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
    """A quote that should be searched is too short or too long."""


class NotFound(RagAssetsError):
    """A requested paper, section, chunk or page does not exist."""


class UploadRefused(RagAssetsError):
    """An uploaded file cannot be a paper, because of its name or its content."""


class UploadTooLarge(UploadRefused):
    """An uploaded file is larger than the limit for uploads."""


class CorpusConflict(RagAssetsError):
    """An upload, deletion or restoration contradicts the existing papers."""


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
    """A requested conversation is not stored."""


class TurnTooLarge(RagAssetsError):
    """An answer is too large to be stored with its conversation."""

    @classmethod
    def of(cls, n_bytes: int, max_bytes: int) -> Self:
        return cls(
            f"The answer has {n_bytes:,} bytes, and {max_bytes:,} are kept of one. The conversation goes on without it."
        )


class UIUnavailable(RagAssetsError):
    """The Dagster UI cannot be started: its port is in use, it is running already, or it ended
    unexpectedly."""


class ServerUnavailable(RagAssetsError):
    """The HTTP server cannot listen at its address."""


class NewerDataFolder(RagAssetsError):
    """A newer version of the software wrote the data folder."""


class ReadOnlyFolder(RagAssetsError):
    """A folder cannot be written, although it must be: missing rights, or a read-only disk."""

    @classmethod
    def at(cls, folder: Path) -> Self:
        return cls(
            f"{folder} cannot be written. Nothing was changed. Give this user the right to write it, or work on a copy "
            "of the data folder (--data); rag-assets ask, retrieve and status need to read it only."
        )


class GuardrailBroken(RagAssetsError):
    """A blocking promise is broken, so nothing was published; the last good files are still
    there."""


def data_option(data: Path) -> str:
    """The option of a command that names this data folder, with a blank before it; empty for the
    default folder."""
    return "" if data == Path("data") else f" --data {shlex.quote(str(data))}"


def _how_to_make(path: Path) -> str:
    """path: file of an asset, with its name, two folders below the data folder; or a link to it in
    the published set, which `index_meta` makes."""
    asset, data = path.stem, path.parent.parent
    if "published_set" in path.parent.name:
        asset, data = "index_meta", data.parent
    return f"Materialize `{asset}`: rag-assets run --select +{asset}{data_option(data)}"


_CODES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WORDS = (*map(os.strerror, _CODES), "database or disk is full")
"""Messages of the operating system, which libraries written in other languages pass on, and of
SQLite."""
_LEAST_ROOM = 10_000_000
"""Bytes of free space. With less, no run is started, and an error without a stated reason, such as
SQLite's "disk I/O error", is taken for one of a full disk."""


class DiskFull(RagAssetsError):
    """A disk that must be written is full."""


def disk_full(folder: Path | None) -> DiskFull:
    """The error with its message. folder: a folder on the full disk; None if it is not known."""
    disk = f"The disk of {folder}" if folder else "A disk, perhaps that of temporary files,"
    return DiskFull(
        f"{disk} is full or nearly so, or its quota is used up. Nothing half-made is published, and what was saved is "
        "kept. Make room and try again."
    )


def tells_full_disk(message: str) -> bool:
    """Whether the message of an error says that a disk, a quota or the largest file is full."""
    return any(words in message for words in _WORDS)


def demand_room(folder: Path) -> None:
    """Raise DiskFull if there is too little room for a run to write its records."""
    if not _has_room(folder):
        raise disk_full(folder)


@contextmanager
def raising_disk_full(folder: Path) -> Iterator[None]:
    """An error within the block that comes from a full disk is raised as DiskFull. folder: where
    the block writes."""
    try:
        yield
    except Exception as error:
        if is_full_disk(error) or (not isinstance(error, RagAssetsError) and not _has_room(folder)):
            raise disk_full(folder) from error
        raise


def is_full_disk(error: BaseException | None) -> bool:
    """Whether an error, or one of the errors that caused it, says that a disk is full."""
    while error is not None:
        if (isinstance(error, OSError) and error.errno in _CODES) or tells_full_disk(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _has_room(folder: Path) -> bool:
    return not folder.exists() or shutil.disk_usage(folder).free > _LEAST_ROOM
