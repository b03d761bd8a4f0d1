"""Protected tables: counts and amounts with suppression or rounding."""
