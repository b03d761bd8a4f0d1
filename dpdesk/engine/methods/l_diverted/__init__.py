"""Diverted zero-differential privacy: sensitive values drawn within hidden groups of decoys."""
