"""What the results show: rows, rankings and comparisons, computed once."""
