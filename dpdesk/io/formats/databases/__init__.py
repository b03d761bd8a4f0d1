"""Databases: files of SQLite and DuckDB, and PostgreSQL servers."""
