"""Papers for the browser to show: PDFs whose sentences stand on known pages, and papers that have
no pages."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from reportlab.pdfgen.canvas import Canvas

from rag_assets_testing.papers.pdf import heading, lines, write_pdf

HERON_QUESTION = "How much of their body mass did herons lose in the cold winter?"
HERON_SENTENCE = "Herons lost 14 per cent of their body mass in the cold winter of 1996, more than in any other year."
HERON_PAGE = 2
MOSS_QUESTION = "How long can dry moss survive in a herbarium?"
MOSS_ABSTRACT = "This note describes the drawers of an old museum in the north."
MOSS_SENTENCE = (
    "Dry moss survived for nine years in a herbarium and grew again when it was watered."
)
MARKUP = '<script>window.hacked = 1</script><img src="x" onerror="window.hacked = 1">'
KELP_QUESTION = "How much did kelp grow in a day in the sheltered bay?"
KELP_SENTENCE = (
    f"In the sheltered bay kelp grew by 31 centimetres in a day {MARKUP} when the water was clear."
)
OTTER_QUESTION = "How many sea urchins does an otter eat in a day?"
OTTER_SENTENCE = "An otter eats about 40 sea urchins in a day when it lives at an exposed coast."

HERONS: Sequence[Mapping[str, Sequence[str]]] = (
    {
        "1 Introduction": (
            "Grey herons stay near the coast as long as the lagoons are free of ice. Counts of wintering birds have "
            "been made from the same hides for three decades, by observers who were trained together.",
            "Body mass was rarely measured, because birds have to be caught for it. Nets were set before dawn and "
            "taken down when the wind rose.",
        )
    },
    {
        "2 Results": (
            "In mild winters body mass stayed level from November to March, and adults were heavier than young birds.",
            f"{HERON_SENTENCE} Young birds were affected first.",
            "Ringed birds came back to the same lagoon in the following autumn, most of them in October.",
        )
    },
    {
        "3 Discussion": (
            "Ice closes the shallow water where herons hunt, so that they have to fly further inland. Rivers that keep "
            "flowing offer the only food during a long frost.",
        )
    },
)
OTTERS: Sequence[Mapping[str, Sequence[str]]] = (
    {
        "1 Diet": (
            "The diet of otters was recorded from cliffs with telescopes, on every day that allowed it.",
            f"{OTTER_SENTENCE} Pups eat less and beg more.",
        )
    },
)


def draw_paper(path: Path, title: str, pages: Sequence[Mapping[str, Sequence[str]]]) -> Path:
    """A PDF; pages: heading -> paragraphs of each page. The title stands on the first."""

    def draw(canvas: Canvas) -> None:
        number = canvas.getPageNumber() - 1
        top = 110.0 if number else heading(canvas, title, top=60, size=20) + 20
        for name, paragraphs in pages[number].items():
            top = heading(canvas, name, top=top)
            for paragraph in paragraphs:
                top = lines(canvas, wrap(paragraph, 84), top=top + 12, size=11)
            top += 24

    return write_pdf(path, [draw] * len(pages))
