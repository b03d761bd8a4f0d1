"""Checking cubes with noise."""
