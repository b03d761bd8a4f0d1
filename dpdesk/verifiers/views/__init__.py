"""Checks of released views and marginals, by code that made none of them."""
