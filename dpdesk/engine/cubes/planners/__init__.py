"""Planners: which cuboids get noise, decided from shape, published cuboids and budget alone."""
