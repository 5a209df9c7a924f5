"""Papers, pages and quotes over HTTP."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image

from rag_assets.core.domain import Box
from rag_assets_testing.reading_back import letters, words_under
from rag_assets_testing.world import World
from rag_assets_tests.faces.server.live import Live, served
from rag_assets_tests.library.reading.conftest import BROKEN, DRAWN
from rag_assets_tests.library.reading.conftest import built as built
from rag_assets_tests.library.reading.conftest import world as world


@pytest.fixture(scope="module")
def live(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server over a copy of the data folder of the reading tests, since it keeps the pages that
    it draws."""
    with served(built.copy_to(tmp_path_factory.mktemp("served")).paths.data) as running:
        yield running


def got(live: Live, path: str) -> Any:
    reply = live.client.get(path)
    assert reply.status_code == 200, reply.text
    return reply.json()


def first_sentence(live: Live) -> dict[str, Any]:
    """Chunk and offsets of a sentence of the paper with a PDF."""
    sections = got(live, f"/api/papers/{DRAWN}")["sections"]
    section = next(one for one in sections if one["page_start"])  # the title page has none
    text = got(live, f"/api/chunks/{section['chunk_ids'][0]}")["text"]
    return {
        "chunk_id": section["chunk_ids"][0],
        "start": 0,
        "end": text.index(". ") + 1,
        "text": text,
    }


def test_papers_are_found_by_title_and_text(live: Live) -> None:
    """Who looks for a paper remembers a name on it, or a phrase in it, and seldom its whole
    title."""
    papers = got(live, "/api/papers")["papers"]

    def found(words: str) -> list[str]:
        reply = live.client.get("/api/papers", params={"find": words})
        return [one["paper_id"] for one in reply.json()["papers"]]

    assert found(first_sentence(live)["text"][:60]) == [DRAWN]
    assert found(" ATHLET  ferrit") == ["ferritin"], "the beginning of a word is enough in a title"
    assert found(BROKEN) == [BROKEN], "papers without text are found by their ids"
    assert found("zebra quagga") == []
    assert len(found(" ")) == len(papers)


@pytest.fixture(scope="module")
def dated(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server over the same papers, one of them with author and year."""
    own = built.copy_to(tmp_path_factory.mktemp("dated"))
    bib = "@article{ferritin, author={Lund, Astrid}, year={2019}, title={Ferritin in athletes}}"
    (own.paths.papers / "library.bib").write_text(bib, "utf-8")
    assert own.run().is_success
    with served(own.paths.data) as running:
        yield running


def test_papers_are_found_and_sorted_by_their_authors_and_years(dated: Live) -> None:
    """A name and a year are what one remembers of a paper."""

    def listed(**asked: str) -> list[str]:
        return [
            one["paper_id"]
            for one in dated.client.get("/api/papers", params=asked).json()["papers"]
        ]

    first = dated.client.get("/api/papers", params={"sort": "year"}).json()["papers"][0]
    assert (first["paper_id"], first["authors"], first["year"]) == (
        "ferritin",
        ["Astrid Lund"],
        2019,
    )
    assert listed(find="lund 2019") == ["ferritin"]
    assert listed() == [BROKEN, DRAWN, "ferritin"]
    assert listed(sort="author") == ["ferritin", BROKEN, DRAWN]
    titled = dated.client.get("/api/papers", params={"sort": "title"}).json()["papers"]
    titles = [(one["title"] or one["paper_id"]).lower() for one in titled]
    assert titles == sorted(titles)
    assert dated.client.get("/api/papers", params={"sort": "size"}).status_code == 422


def test_papers_become_references_in_a_style(live: Live) -> None:
    """The list at the end of one's own paper is made of the papers that the answers cite."""
    asked = {"paper_ids": ["ferritin", "gone"]}
    bibtex = live.client.post("/api/references", json={**asked, "style": "bibtex"})
    styled = live.client.post("/api/references", json=asked)
    numbered = live.client.post("/api/references", json={**asked, "style": "numeric"})

    assert bibtex.headers["content-type"].startswith("text/plain")
    assert bibtex.text == "@misc{ferritin,\n  title = {{Ferritin in athletes}}\n}\n"
    assert styled.text == "Ferritin in athletes.\n"
    assert numbered.text == "[1] Ferritin in athletes.\n"


def test_a_citation_leads_to_its_words_on_the_page(live: Live, built: World) -> None:
    """The whole point of a page citation: open it and see the sentence."""
    cited = first_sentence(live)
    place = got(
        live, f"/api/chunks/{cited['chunk_id']}/place?start={cited['start']}&end={cited['end']}"
    )

    (page,) = place["pages"]
    boxes = [Box(**box) for box in page["boxes"]]
    query = ";".join(f"{box.left},{box.top},{box.right},{box.bottom}" for box in boxes)
    image = live.client.get(f"/api/papers/{DRAWN}/pages/{page['page']}.png?width=500&boxes={query}")

    assert page["is_exact"] is True
    under = words_under(built.paths.papers / f"{DRAWN}.pdf", boxes)
    assert letters(under) == letters(cited["text"][cited["start"] : cited["end"]])
    assert image.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(image.content)).width == 500


def test_a_chunk_is_read_with_the_quote_marked_and_what_stands_around_it(live: Live) -> None:
    """A paper without a PDF is read as text; the sentence must be found in it at once."""
    sections = got(live, "/api/papers/ferritin")["sections"]
    chunk_id = sections[-1]["chunk_ids"][-1]
    text = got(live, f"/api/chunks/{chunk_id}")["text"]
    start = text.index("Ferritin fell by 12%")

    reply = got(live, f"/api/chunks/{chunk_id}?start={start}&end={start + 16}")

    assert reply["text"][reply["start"] : reply["end"]] == "Ferritin fell by"
    assert "Background" in sections[0]["title"] or reply["before"]
    assert (reply["paper_id"], reply["title"]) == ("ferritin", "Ferritin in athletes")


def test_a_quote_is_verified_with_its_place(live: Live) -> None:
    """Another program asks whether a sentence it was given really stands in a paper."""
    quote = "Ferritin fell by 12% in all groups of runners within a month of training."

    verified = live.client.post("/api/verify", json={"quote": quote}).json()
    invented = live.client.post(
        "/api/verify", json={"quote": "Nobody ever measured the temper of the queen."}
    ).json()

    found = verified["match"]
    assert (verified["verdict"], verified["title"]) == ("verified", "Ferritin in athletes")
    assert (found["paper_id"], found["page_start"], found["section_path"]) == (
        "ferritin",
        2,
        "2 Results",
    )
    assert (
        got(live, f"/api/chunks/{found['chunk_id']}")["text"][found["start"] : found["end"]]
        == quote
    )
    assert [page["page"] for page in verified["pages"]] == [2]
    assert (invented["verdict"], invented["match"], invented["pages"]) == ("not_found", None, [])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/papers/nobody", 404),
        ("/api/papers/..%2F..%2Fetc", 404),
        ("/api/papers/nobody/pages/1.png", 404),
        (f"/api/papers/{DRAWN}/pages/999.png", 404),
        (f"/api/papers/{DRAWN}/pages/0.png", 422),
        (f"/api/papers/{DRAWN}/pages/1.png?boxes=1,2,3,4", 422),
        (f"/api/papers/{DRAWN}/pages/1.png?boxes=nan,0,1,1", 422),
        (f"/api/papers/{DRAWN}/pages/1.png?width=1000000", 422),
        ("/api/papers/ferritin/pages/1.png", 404),
        (f"/api/papers/{BROKEN}/pages/1.png", 422),
        ("/api/chunks/none", 404),
        ("/api/chunks/none/place", 404),
        (f"/api/papers/{DRAWN}/sections/none", 404),
    ],
)
def test_what_is_not_there_is_a_problem_with_a_remedy(
    live: Live, built: World, path: str, status: int
) -> None:
    """A program that follows a link from an old answer must be able to tell what is gone."""
    reply = live.client.get(path)

    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert len(reply.json()["detail"]) > 20
    assert str(built.paths.data) not in reply.text
