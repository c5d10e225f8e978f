"""The contents of README.md and of the page about the original's matrix. The published package does
not contain this code."""
