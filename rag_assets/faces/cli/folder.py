"""Commands about a data folder: what it holds, and deleting what was made."""

import shutil
from typing import Annotated, Any

import typer

from rag_assets.core.domain import PaperOrder
from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.options import (
    DataOption,
    JsonOption,
    demand_papers,
    reported,
    settings_of,
)

_READINGS_SHOWN = 10
"""Papers without doubt that `status` lists, if no doubtful ones take their place."""


def status(data: DataOption = None, json_: JsonOption = False) -> None:
    """Show what is there: papers, quarantined files, how papers were read, chunks, indexes,
    answers, last evaluation.

    Example: rag-assets status
    """
    with reported():
        from rag_assets.faces.cli.folder_facts import (
            lists_of_retracted,
            quarantined_files,
            reading_in_words,
            readings,
            status_facts,
        )

        settings = settings_of(data, None)
        facts, files, read = status_facts(settings), quarantined_files(settings), readings(settings)
        lists = lists_of_retracted(settings)
        if json_:
            rendering.print_json(
                {**facts, "quarantined": files, "retraction_lists": lists, "readings": read}
            )
        else:
            measured = facts.pop("last_evaluation") or {"last_evaluation": None}
            shares = {"share_missing_pages": facts.pop("share_missing_pages"), **measured}
            origin = {name: facts.pop(name) for name in ("tokenizer", "index_version")}
            rendering.print_facts(facts, title=f"Data folder {settings.data_dir}")
            rendering.print_facts(shares, title="\nShares and scores, from 0 to 1")
            rendering.print_facts(origin, title="\nMade with")
            if files:
                quarantined = ((file["file"], file["paper_id"], file["reason"]) for file in files)
                rendering.print_paragraphs("\nQuarantined files", quarantined)
            if lists:
                of_list = "DOIs read: {n_dois:,}, papers here among them: {n_papers:,}".format_map
                rows = ((row["file"], "", of_list(row), row["problem"]) for row in lists)
                rendering.print_paragraphs("\nLists of retracted papers", rows)
            if shown := read[: max(sum(row["is_doubtful"] for row in read), _READINGS_SHOWN)]:
                rows = (
                    (
                        reading["file_path"],
                        reading["paper_id"],
                        reading_in_words(reading),
                        reading["notes"],
                    )
                    for reading in shown
                )
                rendering.print_paragraphs(
                    f"\nHow papers were read, the worst first ({len(shown)} of {len(read)})", rows
                )


def verify(data: DataOption = None, json_: JsonOption = False) -> None:
    """Compare every byte of the data folder with its checksums; name what is damaged, and what to
    do. Exit code 1 then.

    Example: rag-assets verify
    """
    with reported():
        from rag_assets.library.verification import damages

        damaged = list(damages(settings_of(data, None)))
        if json_:
            rendering.print_json(
                [
                    {"file": str(damage.path), "problem": damage.problem, "remedy": damage.remedy}
                    for damage in damaged
                ]
            )
        elif damaged:
            for damage in damaged:
                rendering.print_line(f"{damage.path} {damage.problem}. {damage.remedy}")
        else:
            rendering.print_line("Every file is as it was made.")
    if damaged:
        raise typer.Exit(1)


def papers(
    paper_id: Annotated[
        str | None,
        typer.Argument(metavar="PAPER", help="Show the abstract of this paper."),
    ] = None,
    find: Annotated[
        str,
        typer.Option(
            "--find",
            metavar="WORDS",
            help="Only papers with these words in title, authors or text.",
        ),
    ] = "",
    sort: Annotated[
        PaperOrder, typer.Option("--sort", help="The order; of years, the newest first.")
    ] = PaperOrder.ID,
    data: DataOption = None,
    json_: JsonOption = False,
) -> None:
    """List the papers with the beginning of their abstracts; or show the whole abstract of one.

    Example: rag-assets papers hnsw_graphs

    Example: rag-assets papers --find "smith ferritin" --sort year
    """
    with reported():
        from rag_assets.corpus.records.published import titles_of
        from rag_assets.faces.cli.folder_facts import abstract_of, papers_listed

        settings = settings_of(data, None)
        demand_papers([paper_id] if paper_id else [], titles_of(settings.paths), option="PAPER")
        if paper_id is not None:
            paper = abstract_of(settings, paper_id)
            if json_:
                rendering.print_json(paper)
            else:
                title = f"{paper['title']} [{paper_id}]".lstrip()
                rendering.print_paragraphs(
                    title, [("abstract", "", paper["abstract"] or "none was found")]
                )
            return
        rows = papers_listed(settings, find, sort)
        if json_:
            rendering.print_json(rows)
        else:
            paragraphs = (
                (_listed(row), row["paper_id"], row["state"].removeprefix("ready"), row["abstract"])
                for row in rows
            )
            rendering.print_paragraphs(f"{len(rows)} papers of {settings.data_dir}", paragraphs)


def _listed(row: dict[str, Any]) -> str:
    """ "Iron in winter (Ada Lund, Bo Moe, 2019)"."""
    known = ", ".join(filter(None, (*row["authors"], str(row["year"] or ""))))
    missing = f"{', '.join(row['missing'])} not printed where looked for" if row["missing"] else ""
    told = "; ".join(filter(None, (known, missing)))
    return f"{row['title']} ({told})".lstrip() if told else str(row["title"])


def index_stats(data: DataOption = None, json_: JsonOption = False) -> None:
    """Show what the indexes hold and what they were made with.

    Example: rag-assets index stats --json
    """
    with reported():
        from rag_assets.faces.cli.folder_facts import index_facts

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

    What models behind an API said is in the cache: answers and vectors will be asked for, and paid
    for, again.

    Example: rag-assets clear --yes
    """
    with reported():
        from rag_assets.core.incremental import only_writer
        from rag_assets.core.settings.paths import demand_writable

        paths = settings_of(data, None).paths
        demand_writable(paths)
        folders = [folder for folder in paths.made if folder.exists()]
        if folders and not yes:
            typer.confirm(
                f"Delete {', '.join(str(folder) for folder in folders)}?", abort=True, err=True
            )
        with only_writer(paths.data, patience_s=0):
            for folder in folders:
                shutil.rmtree(folder)
        rendering.err().print(f"Deleted {len(folders)} folders.")
