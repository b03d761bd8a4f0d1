"""Readers of foreign formats for private methods: no row decides how another one is read.

What cannot be read in a cell is unreadable; nothing is refused or told because of one row.
"""
