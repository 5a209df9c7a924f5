"""The wire servers tested through the real SDKs."""
