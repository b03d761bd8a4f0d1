"""The panels of the window, in the order of the work."""
