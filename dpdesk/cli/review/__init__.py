"""``dpdesk review``: keys, trust, and the signed review of a release."""
