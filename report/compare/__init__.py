"""Comparisons on demand: configurations of campaigns and saved baselines, and a target against itself."""
