"""Promises: conditions that must hold before something is published.

Each package keeps the promises about what it makes, next to the functions that find violations. The
assets show them as asset checks; the engine checks those about a single answer.
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
    """A condition that must hold for a `Subject`, such as a table."""

    name: str
    sentence: str
    """The condition, and what to do when it does not hold."""
    offenders: Callable[[Subject], Offenders]
    """Finds the rows that break the promise."""
    severity: Literal["blocking", "warning"] = "blocking"
    """blocking: nothing is published while the promise is broken."""
    finding: Callable[[Subject, Offenders], str] | None = None
    """Describes the offenders in a sentence, if "does not hold for n rows" is not enough."""

    def check(self, subject: Subject) -> "CheckedPromise":
        """Check the promise. An error inside `offenders` is a bug, not bad data, and is not
        caught."""
        offenders = self.offenders(subject)
        finding = self.finding(subject, offenders) if self.finding and offenders else ""
        return CheckedPromise(self, offenders, finding)


@dataclass(frozen=True)
class CheckedPromise:
    """A promise with the rows that break it; it is kept if there are none."""

    promise: Promise[Any]
    offenders: Offenders
    finding: str = ""
    """Description of the offenders; empty if the promise has none to give."""

    @property
    def is_kept(self) -> bool:
        return not self.offenders

    @property
    def withholds(self) -> bool:
        """Whether it is broken and forbids publication."""
        return not self.is_kept and self.promise.severity == "blocking"


def check_all(promises: Iterable[Promise[Subject]], subject: Subject) -> list[CheckedPromise]:
    """Check every promise. Ask `nothing_withholds` of the result whether the subject may be
    published."""
    return [promise.check(subject) for promise in promises]


def nothing_withholds(checked: Iterable[CheckedPromise]) -> bool:
    """Whether no blocking promise is broken."""
    return not any(check.withholds for check in checked)
