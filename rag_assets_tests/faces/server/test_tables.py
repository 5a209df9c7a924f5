"""Tables of papers by questions over HTTP."""

from base64 import b64decode
from io import BytesIO

from openpyxl import load_workbook

from rag_assets_tests.faces.server.live import Live

ASKS = {"Fall": "How much did ferritin fall in runners within a month?"}


def test_every_paper_has_a_row_with_a_verified_quote_or_the_reason(live: Live) -> None:
    """A cell that is empty without a word is taken for what the paper does not say."""
    reply = live.client.post("/api/tables", json={"columns": ASKS}).json()

    cells = {row["paper_id"]: row["cells"][0] for row in reply["rows"]}
    assert (reply["columns"], set(cells)) == (["Fall"], {"ferritin", "basalt", "iron"})
    [citation] = cells["ferritin"]["citations"]
    assert citation["quote"] in cells["ferritin"]["text"]
    assert (citation["paper_id"], citation["page_start"]) == ("ferritin", 2)
    assert cells["basalt"]["text"] == ""
    assert cells["basalt"]["reason"].startswith("Searched in vain")
    assert ASKS["Fall"] not in cells["basalt"]["reason"], "it stands above the column"
    assert reply["counts"] == "Papers with an answer, of 3: Fall: 1."
    sheet = load_workbook(BytesIO(b64decode(reply["files"]["xlsx"]))).active
    assert [cell.value for cell in sheet[1]][2] == "Fall"
    assert "ferritin" in b64decode(reply["files"]["csv"]).decode()
    assert "Papers used" in b64decode(reply["files"]["md"]).decode()
