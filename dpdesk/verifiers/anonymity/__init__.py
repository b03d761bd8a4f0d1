"""Checking k-anonymous tables."""
