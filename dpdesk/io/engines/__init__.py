"""Tables that stay in an engine: counted and recoded there, of which only results come here."""
