"""Checking tables with drawn values."""
