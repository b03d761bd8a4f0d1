"""Stata files, read and written."""
