"""The Python environment of reports. It works with any Python 3 and without any package."""
