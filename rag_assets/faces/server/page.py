"""The page: the files of `static/`, as they are, under a policy that lets nothing else run.

Text of papers, models and uploads reaches the page as JSON only. Should any of it be taken for markup, the policy still
forbids inline scripts and styles, other origins, forms that leave, framing, and (`require-trusted-types-for`) every
function of the browser that turns text into markup.
"""

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FILES = Path(__file__).parent / "static"
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
"""Content-Security-Policy (W3C CSP level 3, Trusted Types). blob: is for page images that were fetched with a token."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",  # asked again each time and answered 304, so that an upgrade is seen at once
}
"""Besides those of `request_log`."""


class PageFiles(StaticFiles):
    """Files below a folder, each with the headers above."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        if path.endswith(".js"):  # some systems call it text/plain, which a browser told not to sniff refuses to run
            response.headers["Content-Type"] = "text/javascript; charset=utf-8"
        return response


def add_page(app: FastAPI) -> None:
    """Serve the page at `/` and its files below `/static`; neither needs a token, they hold nothing of the corpus."""
    files = PageFiles(directory=FILES)
    app.mount("/static", files, name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return await files.get_response("index.html", {"type": "http", "method": "GET", "headers": []})
