"""The files that a report consists of."""
