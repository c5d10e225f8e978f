"""All statistics of the report. Nothing else computes them."""
