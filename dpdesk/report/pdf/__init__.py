"""Pages as PDF: the same templates, set for paper."""
