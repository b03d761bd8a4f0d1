"""Choices with the exponential mechanism: quantiles, and most frequent values, by groups."""
