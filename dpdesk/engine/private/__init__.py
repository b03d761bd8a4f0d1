"""What methods with noise share: budget, domains, counting, widths, words; no method is known."""
