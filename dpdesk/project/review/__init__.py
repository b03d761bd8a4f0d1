"""Review and sign-off of releases: policies, checklists, protocols, and the signed events."""
