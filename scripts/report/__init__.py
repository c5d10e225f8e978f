"""The report of a campaign: load → summarize → compare → charts, tables → render, export.

It reads the JSON of a campaign folder and nothing else; identity comes from the JSON, never from a file's
name.
"""
