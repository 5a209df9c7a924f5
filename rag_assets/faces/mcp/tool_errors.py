"""What a client is told when a tool fails: what to do about it, without paths of this machine.

Messages of our own errors may name files and addresses. They are logged; a client gets a fixed sentence, except where
the message speaks of the arguments alone.
"""

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError

from rag_assets.core import errors
from rag_assets.core.errors import RagAssetsError

logger = logging.getLogger(__name__)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_ABOUT_ARGUMENTS = (
    errors.InvalidQuestions,
    errors.InvalidFilter,
    errors.InvalidQuote,
    errors.NotFound,
    errors.UnreadableDocument,
)
_OPERATOR = "Tell the user: whoever runs this server must"
_REMEDIES: Mapping[type[RagAssetsError], str] = {
    errors.MissingInput: f"No papers are indexed yet. {_OPERATOR} put papers into the data folder and run: "
    "rag-assets run",
    errors.StaleIndex: f"The index does not fit the papers or the settings. {_OPERATOR} run: rag-assets run",
    errors.BusyDataFolder: "The corpus is being written. Try again in a minute.",
    errors.StoreUnavailable: "The database of the index does not answer for now. Try again in a minute.",
    errors.ModelUnavailable: "The model that writes answers does not answer for now. Try again in a minute, or use the "
    "tool search, which needs no such model.",
    errors.ModelFault: "The model that writes answers refused the request. Ask in other words, or use the tool search.",
    errors.BudgetExhausted: f"The budget for models is used up. {_OPERATOR} raise model_access.budget_* and start it "
    "again. The tool search still works.",
    errors.MissingKey: f"The key of the model that writes answers is not set. {_OPERATOR} set it in the environment or "
    "in .env. The tool search still works.",
    errors.GuardrailBroken: "The answer broke a rule of its own verification and is withheld. Use the tool search "
    "instead, and report it to the maintainers.",
    RagAssetsError: f"The tool failed. {_OPERATOR} look into its log (stderr), which has the reason.",
}
"""By class; of several that apply, the first is told."""


def told(tool: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The tool, raising ToolError with the remedy where it raised an error of ours."""

    @wraps(tool)
    def translated(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return tool(*args, **kwargs)
        except RagAssetsError as error:
            if isinstance(error, _ABOUT_ARGUMENTS):
                raise ToolError(str(error)) from error
            logger.error("%s failed: %s", tool.__name__, error)
            raise ToolError(_remedy(error)) from error

    return translated


def _remedy(error: RagAssetsError) -> str:
    return next(remedy for kind, remedy in _REMEDIES.items() if isinstance(error, kind))
