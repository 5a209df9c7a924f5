"""Papers that are damaged or of random text end as parsed or quarantined, and keep every promise on
the way.

A few hundred small cases; `benchmarks/fuzz.py` runs as many as one likes, also from real papers.
"""

from collections import Counter
from pathlib import Path

import pytest

from rag_assets.parsing.formats.pdf import document
from rag_assets_testing.fuzzing.cases import PARSED, QUARANTINED, Case, run_case, run_file
from rag_assets_testing.fuzzing.samples import write_samples
from rag_assets_tests.rounds import first_of

N_PER_SAMPLE = 30
SAMPLES = 9


@pytest.fixture(autouse=True)
def no_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that lost its text would be read for seconds; what is damaged here is the file, not a
    picture."""
    monkeypatch.setattr(document, "is_installed", lambda: False)


def test_the_samples_are_parsed_as_they_are(tmp_path: Path) -> None:
    """Damage done to files that cannot be read would prove nothing."""
    endings = {path.name: run_file(path) for path in write_samples(tmp_path)}

    assert {name: ending.reason for name, ending in endings.items() if ending.how != PARSED} == {}
    assert all(ending.n_passages for ending in endings.values())


@pytest.mark.parametrize("first", first_of(range(0, 4 * N_PER_SAMPLE, N_PER_SAMPLE)))
@pytest.mark.parametrize("sample", range(SAMPLES))
def test_damaged_papers_end_as_parsed_or_quarantined(
    tmp_path: Path, sample: int, first: int
) -> None:
    """What raises anything else, or breaks a promise, stops a run or is published."""
    source = write_samples(tmp_path)[sample]
    endings: Counter[str] = Counter()

    for number in range(first, first + N_PER_SAMPLE):
        case = Case(source, f"test-{number}", most_words=60)
        try:
            endings[run_case(case).how] += 1
        except Exception as error:
            raise AssertionError(f"{case} failed") from error

    assert set(endings) == {PARSED, QUARANTINED}, (
        "both are reached, or the damage is too small or too large"
    )
