"""Scientific papers in, grounded page-cited answers out: an incremental Dagster pipeline."""
