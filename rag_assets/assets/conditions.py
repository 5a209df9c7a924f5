"""When an asset wants to run by itself (declarative automation; the UI's automation sensor, off until switched on)."""

from typing import Any

import dagster as dg


def on_new_content() -> dg.AutomationCondition[Any]:
    """Run an asset when the content of what it is made from changed.

    `eager()` alone would fire whenever a parent is materialized, even if the parent found nothing to do: its
    "newly updated" is replaced by a change of the data version.
    """
    return dg.AutomationCondition.eager().replace("newly_updated", dg.AutomationCondition.data_version_changed())
