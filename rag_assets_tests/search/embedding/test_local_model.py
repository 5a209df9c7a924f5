"""The local model makes the vectors of the original, each from its own text alone, without a
network."""

import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.errors import MissingModel
from rag_assets.core.incremental import file_sha256, stamp_of
from rag_assets.search.embedding import local_model
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.local_model import checked_file, damage_since
from rag_assets.search.embedding.providers import open_embedder
from rag_assets_tests.search.embedding.conftest import FLOAT32, INT8
from rag_assets_tests.search.embedding.packed_file import write_packed
from rag_assets_tests.search.embedding.reference_texts import (
    LONG,
    PARAGRAPH,
    QUESTION,
    TEXTS,
    UNTIDY,
)

ORIGINAL_STARTS = {
    QUESTION: [0.005123, -0.053883, -0.076976, 0.08769, 0.075769, -0.033107, -0.011842, 0.130398],
    UNTIDY: [0.014001, -0.096029, 0.022827, 0.0549, 0.011817, 0.031522, 0.082745, 0.077428],
    PARAGRAPH: [0.069237, 0.002365, -0.082278, 0.118044, 0.088719, 0.014571, 0.010242, 0.155521],
    LONG: [0.050069, 0.026571, -0.069083, -0.004137, -0.062753, -0.035129, -0.033501, 0.032673],
}
"""First eight numbers of the vectors that torch makes, from the folder of the packaged model:

    pip install torch==2.13.0 transformers
    tokenizer, model = AutoTokenizer.from_pretrained(folder),
    AutoModel.from_pretrained(folder).eval()
    tokens = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
    with torch.no_grad():
        pooled = model(**tokens).last_hidden_state[0].mean(0)
    print([round(x, 6) for x in (pooled / pooled.norm())[:8].tolist()])
"""


def test_int8_vectors_stay_close_to_the_exact_ones(int8: Embedder, float32: Embedder) -> None:
    """Quantisation that costs more than this would cost hits as well."""
    vectors = int8.embed_passages(TEXTS)

    cosines = (vectors * float32.embed_passages(TEXTS)).sum(axis=1)
    assert cosines.min() >= 0.96
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_float32_vectors_are_those_of_the_original_implementation(float32: Embedder) -> None:
    """A slip in the graph (a swapped weight, another GELU, wrong pooling) would quietly worsen
    every search."""
    for text, start in ORIGINAL_STARTS.items():
        vector = float32.embed_query(text)

        assert vector[:8] == pytest.approx(start, abs=2e-5)


@pytest.mark.parametrize("model", ["float32", "int8"])
def test_a_vector_depends_on_no_other_text_and_on_no_thread_count(
    model: str, models_folder: Path, request: pytest.FixtureRequest
) -> None:
    """Else a build that was killed and resumed would differ from an undisturbed one, and no cache
    could be trusted."""
    embedder: Embedder = request.getfixturevalue(model)
    one_thread = open_embedder(FLOAT32 if model == "float32" else INT8, models_folder, n_threads=1)

    together = embedder.embed_passages(TEXTS)

    alone = np.concatenate([embedder.embed_passages([text]) for text in reversed(TEXTS)])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, one_thread.embed_passages(TEXTS))
    assert np.array_equal(together[0], embedder.embed_query(TEXTS[0]))


def test_the_model_reads_exactly_as_many_tokens_as_it_says(float32: Embedder) -> None:
    """If it read fewer, the ends of full passages could never be found."""
    last_read = " ".join(["fever"] * (float32.facts.max_tokens - 3))
    first_unread = " ".join(["fever"] * (float32.facts.max_tokens - 2))

    n_tokens = float32.count_tokens([f"{last_read} cough", f"{first_unread} cough"])
    vectors = float32.embed_passages(
        [f"{last_read} cough", f"{last_read} rash", f"{first_unread} cough", first_unread]
    )

    assert n_tokens == [float32.facts.max_tokens, float32.facts.max_tokens + 1]
    assert not np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[2], vectors[3])


def test_building_and_embedding_open_no_socket(tmp_path: Path) -> None:
    """A pipeline that reaches for a hub hangs behind a firewall, and tells the hub what it works
    on."""
    script = f"""
import sys
from pathlib import Path

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
        raise SystemExit(f"tried {{event}} {{arguments}}")

sys.addaudithook(refuse)
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.core.settings import EmbeddingSettings
embedder = open_embedder(EmbeddingSettings(), Path({str(tmp_path)!r}), n_threads=2)
print(embedder.embed_passages(["one", "two"]).shape)
import socket
try:
    socket.create_connection(("localhost", 9))
except SystemExit:
    print("guarded")
"""

    without_offline_switch = {
        name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"
    }

    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=without_offline_switch
    )

    assert result.stdout.split("\n")[:2] == ["(2, 384)", "guarded"], result.stderr


def test_a_killed_build_leaves_no_model_and_the_next_one_succeeds(tmp_path: Path) -> None:
    """Half a model under the final name would fail every later run until somebody finds and deletes
    it."""
    script = (
        "import sys; from pathlib import Path; from rag_assets.search.embedding.providers import open_embedder;"
        "from rag_assets.core.settings import EmbeddingSettings;"
        f"open_embedder(EmbeddingSettings(model='{FLOAT32.model}'), Path(sys.argv[1]), n_threads=1).embed_query('x')"
    )
    builder = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("*.staged/model.onnx")) and time.monotonic() < deadline:
        time.sleep(0.005)
    builder.send_signal(signal.SIGKILL)
    builder.wait()
    left = [path.name for path in tmp_path.iterdir()]

    vector = open_embedder(FLOAT32, tmp_path, n_threads=1).embed_query(QUESTION)

    assert len(left) == 1, "the kill came too late to prove anything"
    assert left[0].endswith(".staged")
    assert vector[:8] == pytest.approx(ORIGINAL_STARTS[QUESTION], abs=2e-5)


def test_a_damaged_model_is_built_again(
    float32: Embedder, models_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A flipped byte in the weights gives wrong vectors, not an error."""
    expected = float32.embed_query(QUESTION)
    shutil.copytree(models_folder / float32.identity, tmp_path / float32.identity)
    model = tmp_path / float32.identity / "model.onnx"
    good = file_sha256(model)
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 0xFF
    model.write_bytes(content)

    with caplog.at_level(logging.WARNING):
        vector = open_embedder(FLOAT32, tmp_path, n_threads=1).embed_query(QUESTION)

    assert np.array_equal(vector, expected)
    assert file_sha256(model) == good
    assert caplog.messages == [f"{model} is not as it was built: building the model again."]


def test_a_checked_file_is_read_again_only_when_it_was_changed(tmp_path: Path) -> None:
    """To read 94 MB before every question takes a tenth of its time."""
    weights, record = tmp_path / "weights", tmp_path / "record.json"
    weights.write_bytes(b"good")
    n_read = []

    def damage() -> str:
        n_read.append(weights.read_bytes())
        return "" if n_read[-1] == b"good" else "is damaged"

    checks = [damage_since(record, [weights], damage) for _ in range(3)]
    changed_in_place(weights, b"evil")
    checks += [damage_since(record, [weights], damage) for _ in range(2)]

    assert checks == ["", "", "", "is damaged", "is damaged"]
    assert n_read == [b"good", b"evil", b"evil"]


def test_the_file_of_the_multilingual_model_is_refused_once_it_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size and the time of its change may be those of the file that was checked before."""
    file = tmp_path / "e5-small-q4.bin"
    write_packed(file)
    monkeypatch.setattr(local_model, "packaged_model_folder", lambda _: tmp_path)
    monkeypatch.setattr(local_model, "E5_SHA256", file_sha256(file))
    (tmp_path / "first").mkdir()
    local_model.unpacked_e5(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")  # a new process has opened nothing yet

    changed_in_place(file, file.read_bytes()[:-1] + b"\x01")

    with pytest.raises(MissingModel, match="is not the file of multilingual-e5-small"):
        local_model.unpacked_e5(tmp_path / "second")


def changed_in_place(file: Path, content: bytes) -> None:
    """Write other bytes, and set the time of the change back."""
    before = stamp_of(file)
    while stamp_of(file) == before:  # the clock of a disk may be coarse
        file.write_bytes(content)
        os.utime(file, ns=(before[2], before[2]))


def test_weights_that_are_not_the_official_ones_are_refused(tmp_path: Path) -> None:
    """A tampered or truncated wheel must not become the index."""
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"other")

    with pytest.raises(MissingModel) as caught:
        checked_file(weights, "53aa51")

    assert str(caught.value) == (
        f"{weights} is not the file of the official all-MiniLM-L6-v2: its SHA-256 is "
        "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa, not 53aa51. "
        "Install rag_assets again: after make, rm -r .venv and make run; otherwise, in the project's folder, "
        "pip install --force-reinstall --no-deps ."
    )
