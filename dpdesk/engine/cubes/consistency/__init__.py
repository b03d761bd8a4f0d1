"""Consistency of noisy cuboids: post-processing that never sees a table."""
