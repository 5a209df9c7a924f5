"""Values of records that a person corrects.

They are kept as CSL-JSON beside the papers, where the user may edit them; the next run takes them.
"""

import json

from rag_assets.core.domain import Record
from rag_assets.core.errors import CorpusConflict, NotFound
from rag_assets.core.incremental import write_atomically
from rag_assets.core.settings import Settings
from rag_assets.corpus.records.citation_styles import csl_item
from rag_assets.library.paper_uploads import changing_papers, present_papers, shown
from rag_assets.parsing.bibliographies import CORRECTIONS


def correct(settings: Settings, paper_id: str, record: Record) -> None:
    """Keep the known values of `record` as corrections of a paper, beside those of other fields.

    Raises NotFound if there is no such paper, CorpusConflict if the file of corrections is damaged,
    and what `changing_papers` raises.
    """
    path = settings.paths.papers / CORRECTIONS
    with changing_papers(settings):
        if all(paper.paper_id != paper_id for paper in present_papers(settings)):
            raise NotFound(f"There is no paper {shown(paper_id)}.")
        try:
            items = json.loads(path.read_text("utf-8")) if path.exists() else []
            kept = {item["id"]: item for item in items}
        except (ValueError, LookupError, TypeError) as error:
            raise CorpusConflict(
                f"{path} is not a list of CSL-JSON. Mend it, or move it away; nothing was changed."
            ) from error
        item = csl_item(paper_id, record)
        del item["type"]  # made up where the record has none
        if not record.title:
            del item["title"]
        kept[paper_id] = kept.get(paper_id, {}) | item
        content = json.dumps([*kept.values()], indent=1, ensure_ascii=False) + "\n"
        write_atomically(path, content.encode())
