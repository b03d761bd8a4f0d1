"""Hierarchies at work: builders, editing, previews, and their alignment with data."""
