"""The mutations of the package, which `python -m benchmarks.mutations` runs."""

from benchmarks.mutations.table import FOLDER, PROJECT, read_mutations


def test_every_mutation_fits_the_code_and_its_tests_are_there() -> None:
    """What fits no more, or has lost its test, guards nothing, and nobody would see it."""
    mutations = read_mutations()

    lost = [test for one in mutations for test in one.tests if not _is_there(test)]
    assert [one.name for one in mutations if not one.fits(PROJECT)] == []
    assert lost == []
    assert sorted(FOLDER.glob("*.patch")) == sorted(one.patch for one in mutations)


def _is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    return f"\ndef {name}(" in (PROJECT / file).read_text("utf-8")
