"""Tests of uploads and the trash."""
