"""The command line as its users meet it: what goes to stdout and stderr, which code it ends with,
what it leaves."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import typer
from typer.testing import CliRunner, Result

from rag_assets.core.settings import load_settings
from rag_assets.faces.cli import app
from rag_assets.faces.cli.options import overrides_of
from rag_assets_testing.world import QUESTIONS, TOPICS, World
from rag_assets_tests.end_to_end.test_guardrails import sabotage_answers

ASSETS = {
    "parsed_index", "papers", "blocks", "statements", "chunks", "chunk_stats", "summaries", "passages", "profiles",
    "references", "embeddings",    "chroma_index", "bm25_index", "index_meta", "examples",
}  # fmt: skip
FERRITIN = "How much did ferritin fall in runners within a month?"


@dataclass(frozen=True)
class CommandLine:
    """rag-assets over one folder with data and Dagster history."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    def __call__(
        self, *arguments: str, env: Mapping[str, str] | None = None, answer: str | None = None
    ) -> Result:
        """Run a command; `answer` is what the user types."""
        environment = {
            "DAGSTER_HOME": str(self.root / "home"),
            "RAG_ASSETS_DATA_DIR": str(self.data),
            "RAG_ASSETS_CHUNKING__TOKENIZER": "wordpiece",
            **(env or {}),
        }
        return CliRunner().invoke(app, list(arguments), env=environment, input=answer)


@pytest.fixture(scope="module")
def made(built_model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[CommandLine, Result]:
    """Three papers and three questions, made by one `rag-assets run`, and what it printed. Not to
    be changed."""
    root = tmp_path_factory.mktemp("made")
    world = World(root)
    world.use_models(built_model)
    for paper_id, (title, fact) in TOPICS.items():
        world.write_paper(paper_id, title, fact)
    world.write_questions(QUESTIONS)
    rag_assets = CommandLine(root)
    return rag_assets, rag_assets("run", "--show-answers")


@pytest.fixture
def read_only(made: tuple[CommandLine, Result]) -> CommandLine:
    """The command line over the finished folder, for commands that write nothing there."""
    return made[0]


@pytest.fixture
def rag_assets(made: tuple[CommandLine, Result], tmp_path: Path) -> CommandLine:
    """The command line over a copy of the finished folder."""
    shutil.copytree(made[0].data, tmp_path / "data")
    return CommandLine(tmp_path)


@pytest.fixture
def empty(tmp_path: Path) -> CommandLine:
    """The command line over a folder where nothing was made."""
    (tmp_path / "data" / "papers").mkdir(parents=True)
    return CommandLine(tmp_path)


def commands(group: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of the app with the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*above, name))
        else:
            yield (*above, name), command


ALL = (
    ["run"],
    ["chunk"],
    ["index", "build"],
    ["qa"],
    ["ask", "Which birds?"],
    ["retrieve", "Which birds?"],
    ["status"],
    ["clear", "--yes"],
)
COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_shows_an_example_and_explains_every_option(
    words: tuple[str, ...], empty: CommandLine
) -> None:
    """Help is the only documentation most users open."""
    undocumented = [
        p.name for p in COMMANDS[words].params if not (getattr(p, "help", None) or "").strip()
    ]

    shown = empty(*words, "--help")

    assert undocumented == []
    assert shown.exit_code == 0
    assert f"Example: rag-assets {' '.join(words)}" in shown.stdout


@pytest.mark.parametrize("words", [(), ("index",), *COMMANDS], ids=" ".join)
def test_the_short_help_option_is_known_everywhere(
    words: tuple[str, ...], empty: CommandLine
) -> None:
    """It is what people type first."""
    assert empty(*words, "-h").stdout == empty(*words, "--help").stdout


def test_the_version_is_told(empty: CommandLine) -> None:
    """The first line of every report of a fault."""
    result = empty("--version")

    assert (result.exit_code, result.stdout) == (0, f"rag-assets {version('rag_assets')}\n")


def test_a_run_prints_what_it_did_on_stdout_and_how_it_went_on_stderr(
    made: tuple[CommandLine, Result],
) -> None:
    """A log line in the middle of piped data breaks whoever reads it."""
    _, result = made

    assert result.exit_code == 0, result.stderr
    for asset in {*ASSETS, "qa", "reports", "smoke_eval"}:
        assert asset in result.stdout
    assert "Ferritin fell by 12%" in " ".join(result.stdout.replace("│", " ").split())
    assert "3 of 3 papers" in result.stderr
    assert "3 of 3 papers" not in result.stdout
    assert "qa.jsonl" in result.stderr, "it says where everything lies"


def test_answers_are_part_of_the_one_record_of_a_run(rag_assets: CommandLine) -> None:
    """Two formats on one stream are no JSON, and a program that reads it breaks."""
    result = rag_assets("run", "--select", "qa", "--show-answers", "--json")

    record = json.loads(result.stdout)
    assert result.exit_code == 0, result.stderr
    assert record["is_success"]
    assert {answer["question_id"] for answer in record["answers"]} == {"q1", "q2", "q3"}
    assert "answers" not in json.loads(rag_assets("run", "--select", "qa", "--json").stdout)


def test_a_run_from_the_command_line_is_in_the_history_of_the_ui(read_only: CommandLine) -> None:
    """Whoever opens the UI after a run must find it, with what it materialized."""
    with dg.DagsterInstance.from_config(str(read_only.root / "home")) as instance:
        (run,) = instance.get_runs()
        materialized = {
            event.asset_key.to_user_string()
            for event in (record.dagster_event for record in instance.all_logs(run.run_id))
            if event and event.is_step_materialization and event.asset_key
        }

    assert run.job_name == "everything"
    assert run.status is dg.DagsterRunStatus.SUCCESS
    assert materialized == {*ASSETS, "qa", "reports", "smoke_eval"}


@pytest.mark.parametrize(
    ("arguments", "assets"),
    [
        (
            ["run", "--select", "bm25_index,index_meta+"],
            {"bm25_index", "index_meta", "examples", "qa", "reports", "smoke_eval"},
        ),
        (["chunk"], {"parsed_index", "papers", "blocks", "statements", "chunks", "chunk_stats"}),
        (["index", "build"], ASSETS),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_each_step_materializes_what_it_names(
    rag_assets: CommandLine, arguments: list[str], assets: set[str]
) -> None:
    """Three commands for three steps, and a selection for everything else."""
    result = rag_assets(*arguments, "--json")

    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert report["is_success"]
    assert {one["asset"] for one in report["assets"]} == assets


def test_the_step_of_chunks_tells_their_figures_and_writes_them(
    rag_assets: CommandLine, tmp_path: Path
) -> None:
    """How large chunks are, and how many have no page, had to be looked up in another file."""
    out = tmp_path / "chunks.jsonl"

    told = rag_assets("chunk", "-o", str(out)).stdout
    refused = rag_assets("chunk", "-o", "chunks.txt")

    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert {"chunk_id", "paper_id", "text", "n_tokens", "page_start"} <= rows[0].keys()
    assert re.search(rf"papers +3\n.*chunks +{len(rows)}\n", told)
    for name in ("tokens min", "tokens median", "tokens p95", "tokens max"):
        assert re.search(rf"{name} +[\d.]+\n", told), name
    assert re.search(r"share fallback used +0\.000\n.*share missing pages +[\d.]+\n", told)
    assert (refused.exit_code, ".parquet or .jsonl" in refused.stderr) == (2, True)


@pytest.mark.parametrize("command", ["run", "ask"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("chunking.max_tokens", "write it as key=value"),
        ("chunking.max_tokens=many", "chunking.max_tokens: Input should be a valid integer"),
        (
            "chunking.max_token=600",
            "chunking.max_token: there is no such setting; is chunking.max_tokens meant?",
        ),
        ("chunk.max_tokens=600", "chunk: there is no such setting"),
        ("chunking=600", "chunking: Input should be a valid dictionary"),
        ("retrieval.rank_weights=[1,, 2]", "the value is not TOML"),
        ("chunking.max_tokens=[600]", "chunking.max_tokens: Input should be a valid integer"),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_runs(
    empty: CommandLine, command: str, value: str, problem: str
) -> None:
    """A typo that is passed over in silence is found after a night of embedding."""
    question = ["Which birds?"] if command == "ask" else []

    result = empty(*command.split(), *question, "--set", value)

    assert_wrong_usage(result, problem)
    assert not (empty.data / "cache").exists()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("retrieval.rank_weights=[1, 0.5]", (1.0, 0.5)),
        ("parsing.source_order=['pdf', 'tei']", ("pdf", "tei")),
        ("server.cors_origins=['http://127.0.0.1:9']", ("http://127.0.0.1:9",)),
        ('automation.notify=["lab@example.org"]', ("lab@example.org",)),
        ("evaluation.floors={key_fact_recall = 0.9}", {"key_fact_recall": 0.9}),
        ("answering.model='extractive'", "extractive"),
    ],
)
def test_a_list_a_table_and_a_quoted_text_are_set_as_toml(setting: str, value: object) -> None:
    """Every list was refused as a text: half of the settings could not be tried for one run."""
    group, _, field = setting.partition("=")[0].partition(".")

    settings = load_settings(overrides_of(None, [setting]))

    assert getattr(getattr(settings, group), field) == value


def test_a_group_and_its_field_cannot_both_be_set(empty: CommandLine) -> None:
    """The second would have to be put into a number."""
    result = empty("chunk", "--set", "chunking=600", "--set", "chunking.max_tokens=600")

    assert_wrong_usage(result, "chunking")


def test_a_wrong_setting_of_the_environment_is_no_wrong_usage(empty: CommandLine) -> None:
    """The command was right: whoever reads "Usage" looks in the wrong place."""
    result = empty(
        "chunk", "--set", "chunking.max_tokens=900", env={"RAG_ASSETS_CHUNKING__MIN_TOKENS": "few"}
    )

    assert_our_error(result, "chunking.min_tokens")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["run"], "There is no paper in"),
        (["run", "--data", "a file"], "The data folder a file is not a folder."),
        *(
            (
                [*words, "--data", "nowhere"],
                "The data folder nowhere does not exist. Nothing was made",
            )
            for words in ALL
        ),
        (["ask", "Which birds?"], "from the papers: rag-assets index build --data"),
        (["retrieve", "Which birds?"], "from the papers: rag-assets index build --data"),
        (["index", "stats"], "from the papers: rag-assets index build --data"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_said_in_one_message(
    empty: CommandLine, monkeypatch: pytest.MonkeyPatch, arguments: list[str], problem: str
) -> None:
    """A traceback says neither which file is meant nor what to do."""
    monkeypatch.chdir(empty.root)
    (empty.root / "a file").touch()

    assert_our_error(empty(*arguments), problem)
    assert not (empty.root / "nowhere").exists()


def test_the_advice_for_an_unbuilt_folder_is_the_one_command_it_needs(
    rag_assets: CommandLine,
) -> None:
    """Advice that leads to the next advice is followed twice and believed no more."""
    for made in (rag_assets.data / "index", rag_assets.data / "output"):  # what takes long is kept
        shutil.rmtree(made)
    for table in (rag_assets.data / "cache").glob("*.parquet"):
        table.unlink()
    advice = " ".join(rag_assets("ask", "Where does basalt take up water?").stderr.split())
    command = advice.partition("from the papers: rag-assets ")[2].split()

    built = rag_assets(*command, env={"RAG_ASSETS_DATA_DIR": ""})
    answered = rag_assets("ask", "Where does basalt take up water?")

    assert command == ["index", "build", "--data", str(rag_assets.data)]
    assert built.exit_code == 0, built.stderr
    assert "cracks" in answered.stdout


def test_papers_that_were_all_deleted_leave_an_empty_corpus(rag_assets: CommandLine) -> None:
    """An empty folder may be a disk that is not mounted, so it is asked once whether that is
    meant."""
    for paper in (rag_assets.data / "papers").iterdir():
        paper.unlink()

    asked = rag_assets("chunk")
    first, second = rag_assets("chunk", "--allow-removal", "--json"), rag_assets("chunk", "--json")

    assert asked.exit_code == 1
    assert "3 of 3 papers are gone" in " ".join(asked.stderr.split())
    assert "rag-assets run --allow-removal" in " ".join(asked.stderr.split())
    assert (first.exit_code, second.exit_code) == (0, 0), first.stderr
    facts = {one["asset"]: one["facts"] for one in json.loads(first.stdout)["assets"]}
    assert facts["parsed_index"]["n_removed"] == 3
    assert facts["chunks"]["dagster/row_count"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["retrieve", "Which birds?", "--questions", "q.jsonl", "--out", "hits.jsonl"],
        ["retrieve", "Which birds?", "--out", "hits.jsonl"],
        ["retrieve", "Which birds?", "--where", "sction:results"],
        ["ask", "Which birds?", "--where", ""],
        ["ask", "Which birds?", "-k", "0"],
        ["ask", " "],
        ["run", "--select", "chunkz"],
        ["run", "--sellect", "chunks"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_two(empty: CommandLine, arguments: list[str]) -> None:
    """Scripts tell a wrong call from a failed run by the code."""
    result = empty(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: " in result.stderr


def test_questions_of_another_file_are_answered_beside_the_published_answers(
    rag_assets: CommandLine,
) -> None:
    """Trying out questions must not cost the answers that others read, nor mix with their history.

    The brackets in this one must not be taken for colours of the terminal.
    """
    mine = rag_assets.data / "questions" / "mine.jsonl"
    mine.write_text('{"id": "m[/b]1", "question": "Where does [bold] basalt take up water?"}\n')
    published = (rag_assets.data / "output" / "qa.jsonl").read_bytes()

    result = rag_assets("qa", "--questions", str(mine))
    after = rag_assets("run", "--select", "qa,smoke_eval", "--json")

    assert result.exit_code == 0, result.stderr
    (row,) = [
        json.loads(line)
        for line in (rag_assets.data / "output" / "mine" / "qa.jsonl").read_text().splitlines()
    ]
    assert (row["question_id"], row["refused"]) == ("m[/b]1", False)
    assert "m[/b]1" in result.stdout
    assert "[bold]" in result.stdout
    assert "Basalt and water, p. 2 [basalt]" in result.stdout
    assert re.search(r"^questions/mine.jsonl +questions +1 ", result.stdout, re.MULTILINE), (
        "the file has a row"
    )
    assert (rag_assets.data / "output" / "qa.jsonl").read_bytes() == published
    facts = {one["asset"]: one["facts"] for one in json.loads(after.stdout)["assets"]}
    assert {facts[name]["n_unchanged"] for name in ("qa", "smoke_eval")} == {3, 1}
    with dg.DagsterInstance.from_config(str(rag_assets.root / "home")) as instance:
        keys = {key.to_user_string() for key in instance.get_asset_keys()}
        runs = [
            run
            for run in instance.get_runs()
            if run.tags["rag_assets/started_by"] == "rag-assets qa"
        ]
    assert not {key for key in keys if "mine" in key}, (
        "an asset that no definition names would stay in the catalog"
    )
    assert [(run.job_name, run.status.value) for run in runs] == [
        ("answer_questions", "SUCCESS"),
        ("everything", "SUCCESS"),
    ], "newest first"
    assert "qa" not in {key.to_user_string() for run in runs for key in run.asset_selection or ()}


def test_answers_to_another_file_that_fail_are_a_failed_run_of_dagster(
    rag_assets: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster listed it as a success, and nobody was told that nothing was published."""
    mine = rag_assets.data / "questions" / "mine.jsonl"
    asked = [
        {"id": f"m{n}", "question": f"Where does basalt take up water? ({n})"} for n in range(2)
    ]
    mine.write_text("".join(f"{json.dumps(one)}\n" for one in asked))
    sabotage_answers(monkeypatch, lambda claim: replace(claim, citations=()))

    result = rag_assets("qa", "--questions", str(mine))

    assert result.exit_code == 1
    assert "questions/mine.jsonl · few_withheld" in result.stderr
    assert "The run failed: questions/mine.jsonl · few_withheld (see above)." in " ".join(
        result.stderr.split()
    )
    assert not (rag_assets.data / "output" / "mine" / "qa.jsonl").exists()
    with dg.DagsterInstance.from_config(str(rag_assets.root / "home")) as instance:
        newest = next(iter(instance.get_runs(limit=1)))
    assert (newest.status.value, newest.tags["question_file"]) == (
        "FAILURE",
        "questions/mine.jsonl",
    )
    assert newest.tags["rag_assets/started_by"] == "rag-assets qa"


def test_without_questions_the_papers_are_indexed_and_can_be_asked(rag_assets: CommandLine) -> None:
    """New users have papers before they have questions; an error at the end of a long run reads as
    a failure."""
    (rag_assets.data / "questions" / "smoke.jsonl").unlink()

    result = rag_assets("run", "--show-answers", "--data", str(rag_assets.data))
    asked = rag_assets("ask", "Where does basalt take up water?")

    assert result.exit_code == 0, result.stderr
    shown = " ".join(result.stderr.split())
    assert (
        "smoke.jsonl: nothing was answered, and nothing is evaluated. 3 answers to earlier questions"
        in shown
    )
    assert f'You can ask now: rag-assets ask "YOUR QUESTION" --data {rag_assets.data}' in shown
    assert asked.exit_code == 0
    assert not (rag_assets.data / "output" / "qa.jsonl").exists(), (
        "answers to questions that nobody asks any more"
    )


def test_an_answer_takes_the_effort_that_is_asked_for(read_only: CommandLine) -> None:
    """A flag that does nothing costs the reader the parts that a second search would have found."""
    question = (
        "How much did ferritin fall in runners within a month, and where does basalt take up water?"
    )
    efforts = ([], ["--thorough"], ["--set", "answering.effort=thorough"])

    quick, thorough, by_setting = (
        json.loads(read_only("ask", question, "--json", *one).stdout) for one in efforts
    )

    assert thorough == by_setting
    assert thorough["fingerprint"] != quick["fingerprint"]
    assert thorough["sources_used"][:2] == ["ferritin", "basalt"]


def hits(command: CommandLine, *arguments: str) -> list[dict[str, Any]]:
    result = command("retrieve", FERRITIN, "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)["hits"]
    return found


def test_an_answer_comes_from_what_its_filter_lets_through(read_only: CommandLine) -> None:
    """And the retry for a second paper must not leave the filter."""
    kept = "How was ferritin kept stable in runners within a month?"
    answer = json.loads(read_only("ask", kept, "--paper", "iron", "--json").stdout)
    nothing = read_only("ask", FERRITIN, "--where", "section:appendix")

    assert answer["sources_used"] == ["iron"]
    assert "do not contain enough information" in " ".join(nothing.stdout.split())


def test_papers_are_listed_by_year_and_a_filter_in_a_question_is_offered(
    rag_assets: CommandLine,
) -> None:
    """Who asks for papers of some years must see that all were asked, and how to ask those."""
    bib = "@article{iron, year={2019}, title={Iron}} @article{basalt, year={2021}, title={Basalt}}"
    (rag_assets.data / "papers/library.bib").write_text(bib, "utf-8")
    assert rag_assets("run", "--select", "papers+").exit_code == 0

    listed = rag_assets("papers", "--sort", "year", "--json")
    found = rag_assets("papers", "--find", "2019", "--json")
    answered = rag_assets("ask", "What do papers since 2020 say about basalt?")

    assert [one["paper_id"] for one in json.loads(listed.stdout)] == ["basalt", "iron", "ferritin"]
    assert [one["paper_id"] for one in json.loads(found.stdout)] == ["iron"]
    command = "rag-assets ask 'What do papers say about basalt?' --where year:2020-"
    assert command in answered.stderr
    assert (
        command
        not in rag_assets("ask", "What do papers since 2020 say?", "--where", "year:2020-").stderr
    )


def test_an_unknown_paper_is_told_with_the_nearest_name(read_only: CommandLine) -> None:
    """Nothing found because of a typo looks like nothing written."""
    for command in (
        ["retrieve", FERRITIN, "--paper", "feritin"],
        ["ask", FERRITIN, "--paper", "iron", "--paper", "feritin"],
        ["ask", FERRITIN, "--where", "paper:feritin section:results"],
        ["papers", "feritin"],
    ):
        assert_wrong_usage(read_only(*command), "The nearest is ferritin.")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["chunk", "--min-tokens", "5"], "Write --set chunking.min_tokens=VALUE."),
        (["run", "--chunking.min-tokens=5"], "Write --set chunking.min_tokens=VALUE."),
        (["serve", "--host", "no host"], "Invalid value for --host"),
    ],
    ids=" ".join,
)
def test_a_wrong_option_is_told_by_the_name_that_was_typed(
    empty: CommandLine, arguments: list[str], problem: str
) -> None:
    """Advice about another option sends the reader to a place where nothing is wrong."""
    assert_wrong_usage(empty(*arguments), problem)


def test_the_model_is_the_one_asked_for(read_only: CommandLine) -> None:
    """A flag that is passed over would answer by another model than the reader thinks."""
    keyless = {
        "GEMINI_API_KEY": "",
        "GOOGLE_API_KEY": "",
        "RAG_ASSETS_ANSWER_MODEL": "openai:gpt-5-mini",
    }

    hosted = read_only("ask", FERRITIN, "--model", "google:gemini-2.5-flash", env=keyless)
    extractive = read_only("ask", FERRITIN, "--model", "extractive", "--json", env=keyless)

    assert hosted.exit_code == 1
    assert "Models of google need a key" in " ".join(hosted.stderr.split())
    assert json.loads(extractive.stdout)["model"].startswith("extractive")


def test_a_flag_wins_over_the_setting_it_is_short_for(read_only: CommandLine) -> None:
    """The more particular one is the one that was meant."""
    found = hits(read_only, "--set", "retrieval.dense_weight=1", "--hybrid-weight", "0")

    assert {hit["similarity"] for hit in found} == {None}


def test_status_tells_what_is_there(rag_assets: CommandLine) -> None:
    """The first command after "why is my paper not cited?"."""
    (rag_assets.data / "papers" / "broken.tei.xml").write_text("not a paper")
    (rag_assets.data / "papers" / "retracted.csv").write_text(
        "DOI;Title\n10.1234/a;Iron\n", "utf-16"
    )
    made = rag_assets("chunk")

    shown, record = rag_assets("status"), rag_assets("status", "--json")

    facts = json.loads(record.stdout)
    assert (facts["papers_parsed"], facts["papers_quarantined"], facts["answers"]) == (3, 1, 3)
    (quarantined,) = facts["quarantined"]
    assert quarantined["file"] == "broken.tei.xml"
    assert "holds no XML" in quarantined["reason"]
    assert "broken" in shown.stdout
    assert facts["retraction_lists"] == [
        {"file": "retracted.csv", "n_dois": 1, "n_papers": 0, "problem": ""}
    ]
    assert "DOIs read: 1, papers here among them: 0" in shown.stdout
    assert "retracted.csv: DOIs read: 1, papers here among them: 0" in " ".join(made.stderr.split())


def test_clear_deletes_what_was_made_and_nothing_else(rag_assets: CommandLine) -> None:
    """Papers, questions and the audit log cannot be made again."""
    result = rag_assets("clear", "--yes")

    assert result.exit_code == 0
    assert {path.name for path in rag_assets.data.iterdir() if path.is_dir()} == {
        "papers",
        "questions",
        "logs",
    }
    assert len(list((rag_assets.data / "papers").iterdir())) == 3
    assert (rag_assets.data / "logs" / "qa_audit.csv").exists()


def test_clear_asks_first(rag_assets: CommandLine) -> None:
    """Hours of embedding are one word away."""
    before = sorted(rag_assets.data.rglob("*"))

    result = rag_assets("clear", answer="n\n")

    assert result.exit_code == 1
    assert sorted(rag_assets.data.rglob("*")) == before


def test_the_data_option_wins_over_the_environment(
    read_only: CommandLine, empty: CommandLine
) -> None:
    """Both say where the data are; the nearer one is meant."""
    from_environment = empty("status", "--json", env={"RAG_ASSETS_DATA_DIR": str(read_only.data)})
    from_option = empty("status", "--json", "--data", str(read_only.data))

    assert json.loads(empty("status", "--json").stdout)["papers_parsed"] == 0
    assert json.loads(from_environment.stdout)["papers_parsed"] == 3
    assert json.loads(from_option.stdout)["papers_parsed"] == 3


def test_a_missed_floor_is_told_and_fails_no_run(rag_assets: CommandLine) -> None:
    """The nightly log must say which promise broke, not only that something did."""
    questions = rag_assets.data / "questions" / "smoke.jsonl"
    questions.write_text(
        '{"id": "q1", "question": "Where does basalt take up water?", "key_facts": [["99%"]]}\n'
    )

    floor = "evaluation.floors.key_fact_recall=0.9"
    result = rag_assets("run", "--select", "qa,smoke_eval", "--show-answers", "--set", floor)

    assert result.exit_code == 0, "an evaluation blocks nothing"
    assert "key_fact_recall is 0.0, below its floor 0.9" in result.stderr
    assert "evaluation.floors = {" in result.stderr, "what to do is told"
    assert (
        "questions_right: 0 of 1 judged questions are answered as expected. Open: q1 (1 of 1 key"
        in result.stderr
    )
    assert "cracks when it is" in " ".join(result.stdout.replace("│", " ").split()), (
        "the answers are shown all the same"
    )
    assert "Traceback" not in result.stderr


def assert_our_error(result: Result, problem: str) -> None:
    """Exit code 1 and one readable message on stderr; nothing on stdout, no traceback."""
    assert result.exit_code == 1, result.exception
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert problem in " ".join(result.stderr.split())


def assert_wrong_usage(result: Result, problem: str) -> None:
    """Exit code 2, how the command is called and what is wrong, on stderr."""
    assert result.exit_code == 2, result.exception
    assert result.stdout == ""
    assert "Usage: " in result.stderr
    assert problem in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    "place", ["folder.md", "papers/iron.tei.xml/report.md", "report", "report.pdf"]
)
def test_a_report_that_can_be_put_nowhere_is_refused_before_it_is_written(
    tmp_path: Path, place: str
) -> None:
    """An hour of requests would end in a traceback and no file."""
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/iron.tei.xml").touch()

    done = CliRunner().invoke(
        app, ["report", "none", "-o", str(tmp_path / place), "--data", str(tmp_path)]
    )

    told = " ".join(done.output.replace("│", " ").split())
    assert done.exit_code == 2
    assert "cannot be written" in told or "A report is written as .md" in told
