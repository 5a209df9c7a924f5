"""The page's files: what they may do in a browser, and that they are there."""

import re
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from rag_assets.faces.server.app import FILES
from rag_assets_tests.faces.server.live import Live

PROJECT = Path(__file__).parents[3]


def test_the_page_comes_with_a_policy_that_forbids_everything_but_its_own_files(live: Live) -> None:
    """A paper that gets markup past every other defence would otherwise run scripts in the reader's
    browser."""
    reply = live.client.get("/")

    policy = dict(
        part.split(" ", 1) for part in reply.headers["content-security-policy"].split("; ")
    )
    assert reply.status_code == 200
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert not any("unsafe" in value or "http" in value for value in policy.values())


@pytest.mark.parametrize("path", sorted(path.name for path in FILES.iterdir()))
def test_every_file_of_the_page_is_served_as_what_it_is(live: Live, path: str) -> None:
    """A browser refuses a module that is called text/plain, and the page stays empty."""
    types = {
        ".html": "text/html",
        ".css": "text/css",
        ".js": "text/javascript",
        ".svg": "image/svg+xml",
    }

    reply = live.client.get(f"/static/{path}")

    assert reply.headers["content-type"].startswith(types[Path(path).suffix])
    assert reply.content == (FILES / path).read_bytes()


def test_the_page_asks_for_nothing_that_is_not_among_its_files() -> None:
    """A missing module leaves the page empty; a file from elsewhere does not load where there is no
    network."""
    named = set(re.findall(r'(?:src|href)="([^"#]+)"', (FILES / "index.html").read_text("utf-8")))
    for script in FILES.glob("*.js"):
        named |= set(re.findall(r'from "([^"]+)"', script.read_text("utf-8")))

    assert named
    for name in named:
        assert name.startswith(("/static/", "./")), name
        assert (FILES / name.rpartition("/")[2]).is_file(), name


def test_no_text_can_become_markup_or_code_of_the_page() -> None:
    """One such line, and what a paper says is run. Inline scripts and styles would need a weaker
    policy."""
    scripts = "\n".join(path.read_text("utf-8") for path in FILES.glob("*.js"))
    html = (FILES / "index.html").read_text("utf-8")

    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser",
        scripts,
    )
    assert not re.search(r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)", html)


def test_the_files_of_the_page_are_in_the_wheel() -> None:
    """An installed server would otherwise answer the page with 404."""
    shipped = {
        file.distribution_path for file in WheelBuilder(str(PROJECT)).recurse_included_files()
    }

    assert {f"rag_assets/faces/server/static/{path.name}" for path in FILES.iterdir()} <= shipped
