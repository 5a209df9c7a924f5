"""What was typed into the fields of a form: PDFium keeps it apart from the text of the page, where
readers see it.

Fields of text and of choices become text of the page, at their places. Buttons, check boxes and
lists are left out, since they show what could have been chosen; so are comments of readers and
empty fields.
"""

import logging
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_EMPTY = 2
"""Bytes of an empty value: the end of a string in UTF-16."""


def page_as_filled(pdf: "PdfDocument", index: int) -> "PdfPage":
    """Page `index` (0-based) with the values of its fields as text. Raises PdfiumError if it cannot
    be loaded."""
    from pypdfium2 import raw

    if pdf.get_formtype() == raw.FORMTYPE_NONE:
        return pdf[index]
    logging.getLogger("pypdfium2").setLevel(
        logging.ERROR
    )  # it warns of XFA, which repeats the fields
    pdf.init_forms()
    with closing(pdf[index]) as page:
        for at in reversed(range(raw.FPDFPage_GetAnnotCount(page))):
            if not _is_filled_field(pdf, page, at):
                raw.FPDFPage_RemoveAnnot(page, at)
        if raw.FPDFPage_GetAnnotCount(page):
            raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    return pdf[index]


def _is_filled_field(pdf: "PdfDocument", page: "PdfPage", at: int) -> bool:
    from pypdfium2 import raw

    annotation: Any = raw.FPDFPage_GetAnnot(page, at)
    if not annotation:
        return False
    try:
        kind = raw.FPDFAnnot_GetFormFieldType(pdf.formenv, annotation)
        has_value = raw.FPDFAnnot_GetFormFieldValue(pdf.formenv, annotation, None, 0) > _EMPTY
        return kind in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX) and has_value
    finally:
        raw.FPDFPage_CloseAnnot(annotation)
