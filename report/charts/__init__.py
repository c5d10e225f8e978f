"""The charts of the page. A new one is a function, and a `Chart` in the list of `graphs.py`."""
