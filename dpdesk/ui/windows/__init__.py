"""Windows beside the main one: one file each, on one base."""
