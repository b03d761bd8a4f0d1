"""Reading a source for a private method: no row decides how, or whether, another one is read."""
