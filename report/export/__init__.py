"""The report for other programs: CSV, JSON, Markdown and SVG."""
