"""Anatomy: rows with the number of a group, the values of each group in a table apart."""
