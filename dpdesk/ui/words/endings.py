"""Endings of files for the dialogs that ask for one."""

from __future__ import annotations

DATA_ENDINGS = (
    "*.csv *.tsv *.txt *.parquet *.xlsx *.sav *.zsav *.dta *.sas7bdat *.xpt *.sqlite *.db *.duckdb "
    "*.asc *.rda"
)
"""What a table of people can be kept in."""
