"""Checks of protected tables, by code that made none of them."""
