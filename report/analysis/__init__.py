"""What the results show: rows, rankings and comparisons, computed once.

`comparison_text` and `load_text` are prose but stand here, not in `sections`: charts need them too,
and may not import `sections`.
"""
