"""Whether a claim's quotes stand where it says, and whether they hold what it says."""
