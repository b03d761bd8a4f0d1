"""Differentially private data cubes: lattice, planners, measurement, consistency, browsing."""
