"""The charts of the page. A new one is a file, and an entry in the list of `all_charts.py`."""
