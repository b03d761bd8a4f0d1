"""DDI Codebook 2.5: the description of a release for a data archive, one XML document."""
