"""Commands about a data folder: what it holds, and deleting what was made."""

import shutil
from typing import Annotated

import typer

from rag_assets.core.incremental import only_writer
from rag_assets.core.settings.paths import demand_writable
from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.options import DataOption, JsonOption, SetOption, settings_of
from rag_assets.faces.cli.reported import reported


def status(data: DataOption = None, json_: JsonOption = False) -> None:
    """Show what is there: papers, quarantined files with their reasons, chunks, indexes, answers, last evaluation.

    Example: rag-assets status
    """
    with reported():
        from rag_assets.faces.cli.reports import quarantined_files, status_facts

        settings = settings_of(data, None)
        facts, files = status_facts(settings), quarantined_files(settings)
        if json_:
            rendering.print_json({**facts, "quarantined": files})
        else:
            rendering.print_facts(facts, title=f"Data folder {settings.data_dir}")
            rendering.print_table(files, title="Quarantined files")


def papers(
    paper_id: Annotated[
        str | None,
        typer.Argument(metavar="[PAPER]", help="Show the abstract of this paper, and its summary by a model."),
    ] = None,
    data: DataOption = None,
    json_: JsonOption = False,
) -> None:
    """List the papers with the beginning of their abstracts; or show the whole abstract of one.

    Example: rag-assets papers hnsw_graphs
    """
    with reported():
        from rag_assets.faces.cli.reports import paper_told, papers_listed

        settings = settings_of(data, None)
        rows = papers_listed(settings) if paper_id is None else paper_told(settings, paper_id)
        if json_:
            rendering.print_json(rows)
        else:
            rendering.print_table(rows, title=f"Papers of {settings.data_dir}" if paper_id is None else paper_id)


def ui(
    port: Annotated[int, typer.Option("--port", metavar="N", min=1, max=65535, help="Where the UI listens.")] = 3000,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The UI asks for no password: mind who reaches it.")
    ] = "127.0.0.1",
    data: DataOption = None,
) -> None:
    """Serve the Dagster UI of the data folder: lineage, plots, checks, answers. Ctrl-C ends it.

    While it runs, so do the nightly schedule and the sensor for new, changed and deleted papers.

    Example: rag-assets ui --port 3001
    """
    with reported():
        from rag_assets.pipeline.runs.ui import serve

        settings = settings_of(data, None)
        serve(
            settings,
            host,
            port,
            announce=lambda address: rendering.err().print(
                f"The Dagster UI of {settings.data_dir}: open {address} in a browser. Ctrl-C ends it.", soft_wrap=True
            ),
        )


def serve(
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="ADDRESS", help="Where to listen; any but 127.0.0.1 needs RAG_ASSETS_SERVER_TOKEN."
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=0, max=65535, help="Default: 8000; 0: any that is free.")
    ] = None,
    data: DataOption = None,
    set_: SetOption = None,
) -> None:
    """Serve the HTTP API and the page for asking, over what is published in the data folder. Ctrl-C ends it.

    Example: rag-assets serve --port 8001
    """
    with reported():
        from rag_assets.faces.server.serving import serve as served

        flags = {"server.host": host, "server.port": port}
        values = [f"{setting}={value}" for setting, value in flags.items() if value is not None]
        settings = settings_of(data, [*(set_ or []), *values])
        served(
            settings,
            announce=lambda address: rendering.err().print(
                f"Ask {settings.data_dir} at {address} in a browser; the API is described at {address}"
                "/api/openapi.json. Ctrl-C ends it.",
                soft_wrap=True,
            ),
        )


def index_stats(data: DataOption = None, json_: JsonOption = False) -> None:
    """Show what the indexes hold and what they were made with.

    Example: rag-assets index stats --json
    """
    with reported():
        from rag_assets.faces.cli.reports import index_facts

        facts = index_facts(settings_of(data, None))
        if json_:
            rendering.print_json(facts)
        else:
            rendering.print_facts(facts, title="Index")


def clear(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    data: DataOption = None,
) -> None:
    """Delete everything that was made: cache, indexes, answers. Papers, questions and logs stay.

    What models behind an API said is in the cache: answers and vectors will be asked for, and paid for, again.

    Example: rag-assets clear --yes
    """
    with reported():
        paths = settings_of(data, None).paths
        demand_writable(paths)
        folders = [folder for folder in (paths.cache, paths.chroma.parent, paths.qa.parent) if folder.exists()]
        if folders and not yes:
            typer.confirm(f"Delete {', '.join(str(folder) for folder in folders)}?", abort=True, err=True)
        with only_writer(paths.data, patience_s=0):
            for folder in folders:
                shutil.rmtree(folder)
        rendering.err().print(f"Deleted {len(folders)} folders.")
