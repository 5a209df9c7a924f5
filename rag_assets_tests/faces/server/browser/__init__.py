"""What users do on the page, done in a real browser."""
