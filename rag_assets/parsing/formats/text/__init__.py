"""Plain text; entry point: `document`."""
