"""Graphs of edges with noise, beside degrees that are released exactly."""
