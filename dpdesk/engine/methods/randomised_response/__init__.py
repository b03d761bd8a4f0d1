"""Randomised response: values of rows drawn one by one, by a matrix of chances."""
