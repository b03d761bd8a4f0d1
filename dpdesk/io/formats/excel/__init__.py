"""Excel workbooks, read."""
