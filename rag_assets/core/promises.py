"""What must hold of something that was made before it is published.

The room that makes something keeps the list of its promises, beside the functions that find what
breaks them. `assets` shows them as asset checks, the engine asks those that apply to one answer.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

Subject = TypeVar("Subject")
Offenders = Sequence[Mapping[str, Any]]
"""The rows that break a promise, with the columns that help to find them."""

NONE_QUARANTINED = "none_quarantined"
"""Name of the promises whose offenders are papers that a step cannot use."""


@dataclass(frozen=True)
class Promise(Generic[Subject]):
    """One sentence that must hold of a `Subject`."""

    name: str
    sentence: str
    """What holds, and what to do when it does not."""
    offenders: Callable[[Subject], Offenders]
    severity: Literal["blocking", "warning"] = "blocking"
    """blocking: nothing is published while it is broken."""
    finding: Callable[[Subject, Offenders], str] | None = None
    """Puts the offenders into a sentence, where "does not hold for n rows" says too little."""

    def check(self, subject: Subject) -> "CheckedPromise":
        """Find what breaks the promise. An error inside `offenders` is a bug, not bad data, and is
        not caught."""
        offenders = self.offenders(subject)
        return CheckedPromise(
            self, offenders, self.finding(subject, offenders) if self.finding and offenders else ""
        )


@dataclass(frozen=True)
class CheckedPromise:
    """A promise, and what breaks it."""

    promise: Promise[Any]
    offenders: Offenders
    finding: str = ""

    @property
    def is_kept(self) -> bool:
        return not self.offenders

    @property
    def withholds(self) -> bool:
        """Whether it is broken and forbids publication."""
        return not self.is_kept and self.promise.severity == "blocking"


def check_all(promises: Iterable[Promise[Subject]], subject: Subject) -> list[CheckedPromise]:
    """Check every promise; `nothing_withholds` tells whether the subject may be published."""
    return [promise.check(subject) for promise in promises]


def nothing_withholds(checked: Iterable[CheckedPromise]) -> bool:
    """Whether no blocking promise is broken."""
    return not any(check.withholds for check in checked)
