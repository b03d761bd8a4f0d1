"""Cuboids that are released exactly: what they mean for the noise of all others."""
