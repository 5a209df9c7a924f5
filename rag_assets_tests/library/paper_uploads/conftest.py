"""A data folder with one paper in it, and uploads into it."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from rag_assets.core.settings import Settings
from rag_assets.library.paper_uploads import PaperUploads, UploadedPaper

TEXT = b"Ferritin fell in all groups. The trial had forty patients.\n\nIt lasted ten weeks.\n"
PDF = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
TEI = b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>Ferritin fell.</p></body></text></TEI>'


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    data = tmp_path / "data"
    (data / "papers").mkdir(parents=True)
    (data / "papers" / "jones2021.txt").write_bytes(TEXT)
    return Settings.model_validate({"data_dir": str(data)})


@pytest.fixture
def uploads(settings: Settings) -> Iterator[PaperUploads]:
    uploads = PaperUploads(settings)
    yield uploads
    uploads.close()


def upload(uploads: PaperUploads, name: str, content: bytes) -> UploadedPaper:
    return uploads.add(name, BytesIO(content))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones included, but for locks."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
