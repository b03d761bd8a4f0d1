"""Releases with noise: prepared without data, paid for, measured, processed, checked."""
