"""Reports: the sections of a template are asked as questions, and the answers are written as
verified claims with their evidence.

`templates` reads a template and plans its questions; the engine answers them like any question;
`report` puts the answers together, and `renderings` shows a report as text, web page or table.
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
