"""Checks of releases whose sensitive values stand in a table of their own."""
