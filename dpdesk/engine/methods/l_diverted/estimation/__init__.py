"""Counts estimated from an ℓ′-diverted release, from its own tables of counts alone."""
