"""How every command ends: our errors become one message and an exit code, never a traceback."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.logging import RichHandler

from rag_assets.core.errors import RagAssetsError
from rag_assets.faces.cli import rendering

_EXIT_OF_CTRL_C = 130


@contextmanager
def reported() -> Iterator[None]:
    """Our errors become one message and exit code 1; meanwhile, progress of the domain packages goes to stderr."""
    handler = RichHandler(console=rendering.err(), show_path=False, show_level=False, log_time_format="%H:%M:%S")
    logger = logging.getLogger("rag_assets")
    before = (logger.handlers, logger.propagate, logger.level)
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    try:
        yield
    except KeyboardInterrupt as error:
        rendering.err().print("\nEnded.")
        raise typer.Exit(_EXIT_OF_CTRL_C) from error
    except RagAssetsError as error:
        rendering.err().print(f"Error: {error}", style="red", soft_wrap=True)
        raise typer.Exit(1) from error
    finally:
        logger.handlers, logger.propagate = before[:2]
        logger.setLevel(before[2])
