"""The signed review of a release: look at it, submit, vote, reveal, join copies, release."""
