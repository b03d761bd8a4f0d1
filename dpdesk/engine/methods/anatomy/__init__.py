"""Anatomy: rows with the number of a group, and the values of each group in a table of their own."""
