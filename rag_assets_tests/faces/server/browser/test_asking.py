"""Questions and answers on the page."""

import json

import pytest
from playwright.sync_api import Page, Route, expect

from rag_assets_tests.faces.server.browser.drawn_papers import (
    HERON_QUESTION,
    HERON_SENTENCE,
    MARKUP,
    MOSS_QUESTION,
    MOSS_SENTENCE,
)
from rag_assets_tests.faces.server.browser.steps import (
    ask,
    open_page,
    press,
)
from rag_assets_tests.faces.server.live import Live

pytestmark = pytest.mark.whole


def test_an_answer_quotes_a_paper_behind_each_sentence(page: Page) -> None:
    """Without marks, page and evidence, a reader has to take the answer on trust."""

    turn = ask(page, HERON_QUESTION)

    claim = turn.locator(".claim").first
    expect(claim.locator(".claim-text")).to_contain_text(HERON_SENTENCE)
    expect(claim.locator(".mark")).to_have_text("1")
    expect(claim.locator(".sources")).to_contain_text("Herons at the winter coast")
    expect(claim.locator(".sources")).to_contain_text("p. 2")
    expect(claim).not_to_contain_text(
        "weak"
    )  # how well a search matched says nothing against a quote
    expect(turn.locator(".flag.single")).to_have_count(
        0
    )  # the question names the paper it is about


def test_an_empty_page_says_what_the_papers_are_about_and_asks_on_a_click(
    page: Page, live_shelf: Live
) -> None:
    """Who does not know the papers does not know what to ask."""

    def with_examples(route: Route) -> None:
        reply = route.fetch()
        known = {"topics": ["winter coast", "herbarium"], "examples": [HERON_QUESTION]}
        route.fulfill(response=reply, json=reply.json() | known)

    page.route("**/api/health", with_examples)
    open_page(page, live_shelf)
    welcome = page.locator(".welcome")
    expect(welcome).to_contain_text("These papers are about winter coast, herbarium.")

    press(welcome, HERON_QUESTION)

    expect(page.locator(".claim-text").first).to_contain_text(HERON_SENTENCE)
    expect(welcome).to_have_count(0)


def test_hovering_and_focusing_a_mark_show_quote_and_verification(page: Page) -> None:
    """Looking a quote up must cost no click, with the mouse or with the keyboard; Escape takes it
    away again."""
    turn = ask(page, HERON_QUESTION)
    card = page.get_by_role("tooltip")

    turn.locator(".mark").first.hover()

    expect(card).to_contain_text(HERON_SENTENCE)
    expect(card).to_contain_text("Word for word in the paper")
    expect(card).to_contain_text("p. 2")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.mouse.move(0, 0)
    page.get_by_label("Question", exact=True).focus()
    page.keyboard.press("Shift+Tab")
    while not turn.locator(".mark").first.evaluate("mark => mark === document.activeElement"):
        page.keyboard.press("Shift+Tab")
    expect(card).to_contain_text(HERON_SENTENCE)


def test_a_refusal_looks_like_one(page: Page) -> None:
    """A reader who takes a refusal for an answer cites a paper that says nothing of the kind."""

    turn = ask(page, "What starting dose of metformin is recommended for adults?")

    expect(turn.locator(".refusal")).to_contain_text("No answer was found")
    expect(turn.locator(".refusal")).to_contain_text("do not contain enough information")
    expect(turn.locator(".refusal")).to_contain_text("metformin")
    expect(turn.locator(".claim")).to_have_count(0)
    expect(turn.locator(".mark")).to_have_count(0)


def test_a_refusal_says_why_nothing_was_found(page: Page) -> None:
    """Only the command line told that the paper has no such table, or that what was found is of
    another year."""

    turn = ask(page, 'What does Table 9 of the paper "Herons at the winter coast" show?')

    expect(turn.locator(".flag")).to_contain_text(
        "No Table 9 was found in Herons at the winter coast"
    )


def test_a_thorough_answer_shows_its_parts_while_it_looks_for_them(
    page: Page, live_shelf: Live
) -> None:
    """A switch that does nothing, or a page that stands still for a minute, is not used a second
    time."""
    sent: list[str] = []
    page.on(
        "request",
        lambda request: (
            sent.append(request.post_data or "") if "/api/answers" in request.url else None
        ),
    )
    open_page(page, live_shelf)
    ask(page, HERON_QUESTION)
    page.get_by_label("Thorough").check()

    turn = ask(
        page, f"{HERON_QUESTION.rstrip('?')}, and {MOSS_QUESTION[0].lower()}{MOSS_QUESTION[1:]}"
    )

    expect(turn.locator(".claims")).to_contain_text(HERON_SENTENCE)
    expect(turn.locator(".claims")).to_contain_text(MOSS_SENTENCE)
    expect(page.locator("#announcer")).to_contain_text("Part 2 of 2")
    expect(turn.locator(".parts")).to_have_count(0)
    assert ["effort" in json.loads(body) for body in sent] == [False, True]


def test_only_what_is_ticked_is_asked(page: Page) -> None:
    """A filter that is shown and not applied answers from papers the reader has ruled out."""
    page.get_by_label("Ask Ferritin in athletes").check()
    expect(page.locator("#scope")).to_contain_text("only 1 paper")

    ruled_out = ask(page, HERON_QUESTION)
    page.get_by_label("Stop asking only 1 paper").click()
    allowed = ask(page, HERON_QUESTION)

    expect(ruled_out.locator(".claim-text", has_text=HERON_SENTENCE)).to_have_count(0)
    expect(allowed.locator(".claim-text", has_text=HERON_SENTENCE)).to_have_count(1)
    expect(page.get_by_label("Ask Ferritin in athletes")).not_to_be_checked()


def test_an_author_and_years_narrow_a_question(page: Page) -> None:
    """A name with blanks and quotes is handed over as one value; dropped, it narrows no more."""
    # no other conversation's name
    question = "Did herons lose body mass in the cold winter, and how much of it?"
    page.get_by_text("Ask only some of it").click()
    page.get_by_label("by author").fill('Nobody "N" Nowhere')
    missed = ask(page, question)
    press(page, "Stop asking papers by")
    found = ask(page, question)
    page.get_by_label("to year").fill("1066")
    too_early = ask(page, question)

    expect(found.locator(".claim-text", has_text=HERON_SENTENCE)).to_have_count(1)
    expect(missed.locator(".claim-text", has_text=HERON_SENTENCE)).to_have_count(0)
    expect(too_early.locator(".claim-text", has_text=HERON_SENTENCE)).to_have_count(0)


CITATION = {
    "paper_id": "herons",
    "chunk_id": "herons:1",
    "page_start": None,
    "page_end": None,
    "page_label": None,
    "quote": "Herons lost weight.",
    "start": 0,
    "end": 19,
    "boxes": [],
    "verification": "approximate",
    "is_generated": True,
}
CLAIM = {
    "text": "They lost weight.",
    "citations": [CITATION],
    "support": {"score": 0.75, "judged": None},
    "relevance": None,
}
ROW = {
    "question": "?", "answer": "They lost weight.", "claims": [CLAIM], "refused": False, "single_source": False,
    "sources_used": ["herons"], "unanswered": [], "missing_names": [], "fingerprint": "f",
}  # fmt: skip


def streamed(*events: tuple[str, object]) -> str:
    return "".join(
        f": still working\n\nevent: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events
    )


def done(row: dict[str, object], **more: object) -> tuple[str, dict[str, object]]:
    """The last event of an answer."""
    known = {"conversation_id": None, "turn": None, "seconds": 1, "dropped": [], "notes": []}
    return "done", {**known, "answer": row, **more}


def answer_with(page: Page, body: str) -> None:
    """Let the server's answer be this stream: what only a model drafts, or a broken connection
    leaves."""

    def fulfil(route: Route) -> None:
        route.fulfill(status=200, content_type="text/event-stream", body=body)

    page.route("**/api/answers", fulfil)


def test_what_a_model_drafted_and_did_not_hold_is_told_under_what_was_left_out(page: Page) -> None:
    """Statements that vanish without a word make an answer look complete."""
    dropped = [
        {
            "reason": "quote not found",
            "message": "Its quote does not stand in the paper it names.",
            "n": 2,
        },
        {"reason": "contradicted", "message": "Its numbers are not those of its quote.", "n": 1},
    ]
    answer_with(page, streamed(("claim", {"number": 1, **CLAIM}), done(ROW, dropped=dropped)))

    turn = ask(page, HERON_QUESTION)
    turn.get_by_text("What was left out (3)").click()

    expect(turn.locator("details[open]")).to_contain_text(
        "2 × Its quote does not stand in the paper it names."
    )
    expect(turn.locator("details[open]")).to_contain_text(
        "1 × Its numbers are not those of its quote."
    )


def test_what_came_near_is_open_below_a_refusal_and_closed_below_an_answer(page: Page) -> None:
    """Below a refusal it is the best there is; below an answer it must not be read as a part of
    it."""
    (citation,) = CLAIM["citations"]
    near = {**CLAIM, "text": MARKUP, "citations": [citation]}
    refusal = {
        **ROW,
        "answer": "Not enough information.",
        "claims": [],
        "refused": True,
        "nearest": [near],
    }
    answer_with(page, streamed(done(refusal)))

    refused = ask(page, HERON_QUESTION).locator("details.nearest")

    expect(refused.locator("summary")).to_have_text(
        "Nearest sentences, which may not answer it (1)"
    )
    expect(refused.get_by_text(MARKUP)).to_be_visible()
    refused.get_by_role("button").click()
    expect(page.locator("#reader")).to_contain_text(citation["quote"])

    page.unroute("**/api/answers")
    answer_with(page, streamed(done({**ROW, "nearest": [near]})))
    answered = ask(page, HERON_QUESTION).locator("details.nearest")

    expect(answered.locator("summary")).to_have_text(
        "Near the question, and no part of the answer (1)"
    )
    expect(answered.get_by_text(MARKUP)).to_be_hidden()


def test_the_card_tells_support_words_of_a_model_and_a_quote_that_is_not_word_for_word(
    page: Page,
) -> None:
    """These are the citations to be looked at twice, and the page on which one stands may be
    unknown."""
    answer_with(page, streamed(("claim", {"number": 1, **CLAIM}), done(ROW)))
    turn = ask(page, HERON_QUESTION)

    turn.locator(".mark").hover()

    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("page unknown")
    expect(card).to_contain_text("Nearly word for word")
    expect(card).to_contain_text("Support: likeness 75%")
    expect(card).to_contain_text("written by a model, not by the authors")


def test_a_quote_that_ocr_read_says_so_beside_its_page(page: Page) -> None:
    """Letters and digits of a scan may be wrong, and nothing else on the page tells."""
    citation = {**CITATION, "page_start": 2, "page_end": 2, "is_by_ocr": True}
    answer_with(page, streamed(done({**ROW, "claims": [{**CLAIM, "citations": [citation]}]})))

    turn = ask(page, HERON_QUESTION)

    expect(turn.locator(".sources")).to_contain_text("p. 2, read by OCR")


def test_a_row_of_a_table_is_drawn_as_a_small_table(page: Page) -> None:
    """Labels and values in one line of bars have to be sorted by the reader."""
    quote = f"Group: {MARKUP} | Loss (g): 14 | Birds: 9"
    row = {
        **CLAIM,
        "text": f"Table 2 | Group: {MARKUP} | Loss (g): 14",
        "citations": [{**CITATION, "quote": quote}],
    }
    answer_with(page, streamed(done({**ROW, "claims": [row, CLAIM]})))

    claims = ask(page, HERON_QUESTION).locator(".claim")

    expect(claims.nth(0).locator("caption")).to_have_text("Table 2")
    expect(claims.nth(0).locator("th")).to_have_text(["Group", "Loss (g)"])
    expect(claims.nth(0).locator("td")).to_have_text([MARKUP, "14"])
    expect(claims.nth(1).locator("table")).to_have_count(0)


def test_a_retry_replaces_the_claims_before_it(page: Page) -> None:
    """Claims of two drafts in one list would say everything twice."""
    later = {**CLAIM, "text": "They lost 14 per cent."}
    stream = [
        ("claim", {"number": 1, **CLAIM}),
        ("retrying", {"k": 10}),
        ("claim", {"number": 1, **later}),
    ]
    answer_with(page, streamed(*stream))  # cut off: the finished answer would correct the list

    turn = ask(page, HERON_QUESTION)

    expect(turn.locator(".claim")).to_have_count(1)
    expect(turn.locator(".claim-text")).to_contain_text("They lost 14 per cent.")


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("", "The connection ended"),
        (
            'event: error\ndata: {"problem": {"title": "The model is busy", "detail": "Wait a minute."}}\n\n',
            "Wait a min",
        ),
    ],
)
def test_an_answer_that_breaks_off_keeps_its_claims_and_says_so(
    page: Page, rest: str, words: str
) -> None:
    """What was verified stays true; what is missing must not look like the end of the answer."""
    answer_with(page, streamed(("claim", {"number": 1, **CLAIM})) + rest)

    turn = ask(page, HERON_QUESTION)

    expect(turn.locator(".claim-text")).to_contain_text("They lost weight.")
    expect(turn.get_by_role("alert")).to_contain_text(words)
    page.unroute("**/api/answers")
    press(turn, "Try again")
    expect(page.locator(".claim-text", has_text=HERON_SENTENCE)).to_have_count(1)


def test_a_server_that_is_gone_is_named_as_the_reason(page: Page) -> None:
    """An endless spinner tells nobody to look at the terminal."""
    page.route("**/api/answers", lambda route: route.abort())

    turn = ask(page, HERON_QUESTION)

    expect(turn.get_by_role("alert")).to_contain_text("Is rag-assets serve still running?")


def test_a_question_that_is_refused_as_such_shows_the_remedy(page: Page) -> None:
    """The server's problem details are written for the user."""
    page.locator("#question").evaluate("field => field.removeAttribute('maxlength')")

    turn = ask(page, "why " * 4000)

    expect(turn.get_by_role("alert")).to_contain_text("characters")
    expect(turn.get_by_role("alert")).to_contain_text("Request")


def test_a_filter_in_the_words_of_a_question_is_applied_by_a_click(
    page: Page, own_shelf: Live
) -> None:
    """Nothing is left out unless the user says so."""
    open_page(page, own_shelf)
    page.route("**/api/answers", with_offer)
    turn = ask(page, "What do papers since 2019 say about herons?")
    page.unroute("**/api/answers")

    with page.expect_request("**/api/answers") as again:
        press(turn, "Ask only papers with year:2019-")

    assert again.value.post_data_json["where"] == "year:2019-"
    assert again.value.post_data_json["question"] == "What do papers say about herons?"


def with_offer(route: Route) -> None:
    """The server's reply, with a filter offered, which needs a paper with a year."""
    reply = route.fetch()
    offer = '"offered": {"question": "What do papers say about herons?", "where": "year:2019-"}'
    route.fulfill(response=reply, body=reply.text().replace('"offered": null', offer))


def test_papers_are_sorted_as_chosen(page: Page) -> None:
    """Among hundreds of papers one looks by name, or for what is new."""

    with page.expect_request("**/api/papers?sort=year"):
        page.get_by_label("Sorted by").select_option("year, newest first")

    expect(page.locator(".paper")).to_have_count(4)


def test_a_table_of_papers_is_made_read_and_saved(page: Page) -> None:
    """A cell is judged by its quote, which nobody opens cell by cell; the table goes into one's own
    sheet."""

    press(page, "Table")
    page.get_by_label("One question a line").fill(
        "Fall = How much did ferritin fall in runners?\nWhere do herons winter?\n"
        "What made the moss beds of the northern valley greener than those of the south?"
    )
    press(page, "Make the table")

    table = page.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(
        [
            "Paper",
            "Fall",
            "Where do herons winter?",
            "What made the moss beds of the northern valley greener than those of the south?",
        ]
    )
    expect(page.locator("#reader")).to_be_hidden()
    row = table.get_by_role("row", name="Ferritin in athletes")
    expect(row.locator(".quote")).to_contain_text("Ferritin fell by 12%")
    expect(table.get_by_role("columnheader").last).to_be_in_viewport(ratio=1)
    with page.expect_download() as download:
        press(page, "Save as Excel")
    assert download.value.path().read_bytes().startswith(b"PK")
    row.locator(".mark").first.click()
    expect(page.locator("#reader")).to_contain_text("Ferritin fell by 12%")


def test_pinned_claims_are_taken_along_with_quotes_and_papers(page: Page) -> None:
    """Who collects evidence over an evening would copy it together claim by claim, from answers
    that are gone when the page is closed."""
    ask(page, HERON_QUESTION).get_by_role("button", name="Pin", exact=True).first.click()
    page.reload()

    with page.expect_download() as download:
        press(page, "Save pinned (1)")

    text = download.value.path().read_text("utf-8")
    assert HERON_SENTENCE in text.replace("\\", "")
    assert "### Sources" in text
    assert "### References\n\n- " in text
    assert "Herons at the winter coast" in text
