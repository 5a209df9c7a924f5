"""Adding papers to the papers folder and taking them out of it, in a way that can be undone.

Only the papers folder and the trash are written; what follows from a change is made by the ordinary
run. No web framework and no Dagster here.
"""

from rag_assets.library.paper_uploads.trash import PaperTrash, TrashedPaper
from rag_assets.library.paper_uploads.uploads import PaperUploads, UploadedPaper

__all__ = ["PaperTrash", "PaperUploads", "TrashedPaper", "UploadedPaper"]
