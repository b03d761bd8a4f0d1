"""Words that several panels share: about columns, settings, and what is still missing."""
