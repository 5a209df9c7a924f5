"""Which papers are summarised again by a model that a local server plays."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.model.answerer import HostedAnswerer
from rag_assets.answering.paper_summaries import (
    PaperSummaryUpdate,
    update_paper_summaries,
    without_paper_summaries,
)
from rag_assets.answering.summarizers import (
    QUESTIONS,
    PaperSummarizer,
    contexts_for,
    model_name,
    paper_contexts,
)
from rag_assets.answering.verify.verification import Scoring, SupportScorer, Unscored, VerifiedClaims
from rag_assets.core.domain import Chunk, PaperPoint, Point, SectionPart, Support
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import AnsweringSettings, ModelAccessSettings, PaperSummarySettings
from rag_assets.core.tables import (
    CHUNKS,
    PAPER_SUMMARIES,
    chunk_row,
    paper_point_row,
    paper_points_from,
    rows_of,
    to_table,
)
from rag_assets.hosted.connections import Connections
from rag_assets_testing.wire import BadKey, Reply, Status, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import Prompt, reply
from rag_assets_tests.answering.builders import chunk
from rag_assets_tests.hosted.models import HURRIED

SETTINGS = PaperSummarySettings(model="openai:gpt-5-mini")
SECTIONS = {
    "Abstract": "We examined whether iron is lost in winter. We found that winter takes 12% of it.",
    "Methods": "A total of 120 runners were recruited from two clubs.",
    "Discussion": "One limitation is that only two clubs took part.",
}
NOTHING = PAPER_SUMMARIES.empty_table()


def paper(paper_id: str, sections: dict[str, str] = SECTIONS) -> list[Chunk]:
    made = []
    for nth, (title, text) in enumerate(sections.items()):
        part = SectionPart(0, 0, len(text), title, title)
        made.append(
            replace(
                chunk(paper_id, text), ordinal=nth, sections=(part,), section_title=title, fingerprint=str(sections)
            )
        )
    return made


def quoting(request: WireRequest) -> Reply:
    """An honest model: the first sentence of the first source."""
    (number, text), *_ = Prompt.of(request).sources.items()
    sentence = text.partition(". ")[0].strip().rstrip(".") + "."
    return reply([(sentence, [(number, sentence)])])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    with WireServer("openai") as wire:
        use_wire_environment(monkeypatch, wire)
        wire.answer_by(quoting)
        yield wire


def by_model(
    folder: Path,
    papers: list[list[Chunk]],
    published: pa.Table = NOTHING,
    access: ModelAccessSettings = HURRIED,
    scorer: SupportScorer | None = None,
) -> PaperSummaryUpdate:
    with Connections(access) as connections:
        answerer = HostedAnswerer(model_name(SETTINGS), connections, AnsweringSettings(min_sources=1))
        return _updated(
            papers,
            published,
            PaperSummarizer(
                answerer,
                KeptFile(folder / "kept.sqlite3").replies("paper_summaries", DraftAnswer),
                scorer or Unscored(),
            ),
        )


def _updated(papers: list[list[Chunk]], published: pa.Table, summarizer: PaperSummarizer) -> PaperSummaryUpdate:
    chunks = to_table([chunk_row(one) for own in papers for one in own], CHUNKS)
    return update_paper_summaries(
        published,
        chunks.select(["paper_id", "chunk_id", "fingerprint"]),
        lambda wanted: rows_of(chunks, "paper_id", wanted),
        summarizer,
        settings=SETTINGS.fingerprint(),
        n_at_once=1,
        report=lambda _done, _total: None,
    )


def told(update: PaperSummaryUpdate) -> dict[tuple[str, Point], list[str]]:
    return {(one.paper_id, one.point): _texts(one) for one in paper_points_from(update.table)}


def _texts(one: PaperPoint) -> list[str]:
    return [claim.text for claim in one.claims]


def test_only_the_paper_that_changed_is_summarised_again(server: WireServer, tmp_path: Path) -> None:
    """The whole corpus would be read again for each new paper."""
    before = by_model(tmp_path, [paper("iron"), paper("steel")])
    edited = {**SECTIONS, "Discussion": "One limitation is that three clubs took part."}

    after = by_model(tmp_path, [paper("iron", edited), paper("steel")], before.table)

    assert (after.plan.changed, after.plan.unchanged) == (("iron",), ("steel",))
    assert {one.paper_id for one in after.made} == {"iron"}
    assert told(after)["iron", Point.LIMITS] == ["One limitation is that three clubs took part."]
    assert told(after)["steel", Point.LIMITS] == told(before)["steel", Point.LIMITS]


def test_a_paper_that_is_gone_takes_its_summary_along(server: WireServer, tmp_path: Path) -> None:
    """It would be listed for ever."""
    before = by_model(tmp_path, [paper("iron"), paper("steel")])

    after = by_model(tmp_path, [paper("steel")], before.table)

    assert after.plan.removed == ("iron",)
    assert {name for name, _ in told(after)} == {"steel"}


def test_a_model_is_asked_four_questions_once(server: WireServer, tmp_path: Path) -> None:
    """Each night would cost four requests a paper."""
    first = by_model(tmp_path, [paper("iron")])
    n_asked = len(server.requests)

    again = by_model(tmp_path, [paper("iron")], first.table)
    killed = by_model(tmp_path, [paper("iron")])

    assert [Prompt.of(request).question for request in server.requests] == list(QUESTIONS.values())
    assert len(server.requests) == n_asked, "neither an unchanged run nor one after a kill asks again"
    assert again.plan.is_noop
    assert killed.table == first.table
    assert told(first)["iron", Point.LIMITS] == ["One limitation is that only two clubs took part."]


def test_an_edit_asks_a_model_about_the_points_that_read_it_only(server: WireServer, tmp_path: Path) -> None:
    """A comma in the methods would be paid for four times."""
    long = {title: f"{text} {'Nothing else is said here of it. ' * 400}" for title, text in SECTIONS.items()}
    first = by_model(tmp_path, [paper("iron", long)])
    n_asked = len(server.requests)

    by_model(tmp_path, [paper("iron", {**long, "Methods": long["Methods"].replace("120", "121")})], first.table)

    assert [Prompt.of(request).question for request in server.requests[n_asked:]] == [QUESTIONS[Point.DONE]]


def test_what_a_model_makes_up_is_not_told(server: WireServer, tmp_path: Path) -> None:
    """A summary is believed as a quote is."""
    server.answer_by(lambda _request: reply([("Iron doubles in winter.", [(1, "iron doubles in winter")])]))

    update = by_model(tmp_path, [paper("iron")])

    assert all(said == [] for said in told(update).values())


class _FindsNothing:
    """A second look that finds no claim supported."""

    identity = "finds nothing"

    def scores(self, verified: VerifiedClaims, _question: str) -> Scoring:
        return Scoring((Support(None, 0.0),) * len(verified.claims))


def test_what_a_second_look_does_not_find_supported_is_not_told(server: WireServer, tmp_path: Path) -> None:
    """A summary would tell what an answer withholds."""
    update = by_model(tmp_path, [paper("iron")], scorer=_FindsNothing())

    assert server.requests
    assert all(said == [] for said in told(update).values())


@pytest.mark.parametrize("fault", [Status(429), Status(503), Status(404)])
def test_a_paper_that_a_model_cannot_be_asked_about_keeps_what_still_holds(
    server: WireServer, tmp_path: Path, fault: Status
) -> None:
    """A failing night would empty the list of papers; an answer about text that is gone would be no better."""
    before = by_model(tmp_path, [paper("iron"), paper("steel")])
    edited = {**SECTIONS, "Acknowledgments": "We thank nobody at all for the help we had."}
    rewritten = {title: text.replace("winter", "spring").replace("two", "six") for title, text in SECTIONS.items()}
    server.answer_by(lambda _request: fault)
    (tmp_path / "none").mkdir()

    after = by_model(tmp_path / "none", [paper("iron", edited), paper("steel", rewritten)], before.table)

    assert set(after.left) == {"iron", "steel"}
    assert {name for name, _ in told(after)} == {"iron"}
    server.answer_by(quoting)
    healed = by_model(tmp_path, [paper("iron", edited), paper("steel", rewritten)], after.table)
    assert (healed.left, set(healed.plan.to_build)) == ({}, {"iron", "steel"})


def test_a_refused_key_and_a_spent_budget_end_the_asking(server: WireServer, tmp_path: Path) -> None:
    """A thousand papers would be a thousand requests that cannot succeed."""
    papers = [paper("a"), paper("b"), paper("c")]
    server.answer_by(lambda _request: BadKey())

    refused = by_model(tmp_path, papers)
    n_refused = len(server.requests)
    server.answer_by(quoting)
    limited = HURRIED.model_copy(update={"budget_requests": 6})
    spent = by_model(tmp_path, papers, access=limited)

    assert (set(refused.left), n_refused) == ({"a", "b", "c"}, 1)
    assert set(spent.left) == {"b", "c"}
    assert len(server.requests) - n_refused == 6
    assert {name for name, _ in told(spent)} == {"a"}


def test_a_model_reads_the_sections_that_tell_a_point_first() -> None:
    """With a small budget it would read the introduction four times."""
    contexts = paper_contexts(paper("iron", {**SECTIONS, "Setting": "The clubs met each Monday. " * 60}))

    given = contexts_for(contexts, max_tokens=200)

    assert given[Point.DONE][0].section_title == "Methods"
    assert given[Point.LIMITS][0].section_title == "Discussion"
    assert "Setting" not in {one.section_title for one in given[Point.ASKED]}


def test_without_a_model_no_summary_stays() -> None:
    """Words of a model that is switched off would go on being shown, and never change."""
    published = to_table([paper_point_row(PaperPoint("iron", point, (), "m"), "f") for point in Point], PAPER_SUMMARIES)

    update = without_paper_summaries(published)

    assert (len(update.table), update.plan.removed) == (0, ("iron",))
