"""SPSS files, read and written."""
