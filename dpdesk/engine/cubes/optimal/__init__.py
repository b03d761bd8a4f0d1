"""Noise of unequal budgets, chosen by the cell variances after consistency."""
