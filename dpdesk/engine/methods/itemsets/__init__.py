"""The most frequent sets of items, chosen and counted with noise."""
