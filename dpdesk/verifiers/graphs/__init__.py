"""Checking graphs with noise."""
