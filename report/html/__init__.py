"""The page: templates, styles and scripts in one file."""
