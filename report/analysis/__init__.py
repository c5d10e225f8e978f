"""What the results show: rows, rankings and comparisons, computed once.

`texts` is prose but stands here, not in `sections`: charts need it too, and may not import
`sections`."""
