"""Protected tables: sensitivity, suppression, rounding and an attacker's audit."""
