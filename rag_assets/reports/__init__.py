"""Reports: a template's sections asked of the corpus as questions, and written as verified claims
with their evidence.

A template says what is asked (`templates`, `plan`), answers come from the engine as for any
question, and a report is a view of both (`report`, `markdown`, `spreadsheet`).
"""

from rag_assets.reports.report import Report, assembled
from rag_assets.reports.templates import (
    PlannedQuestion,
    ReportPlan,
    Template,
    load_template,
    plan_report,
    template_files,
)

__all__ = [
    "PlannedQuestion",
    "Report",
    "ReportPlan",
    "Template",
    "assembled",
    "load_template",
    "plan_report",
    "template_files",
]
