"""The report of a campaign. It reads the JSON of a campaign folder and nothing else.

Each folder imports only those before it: base → statistics → results → analysis → sections, charts
→ html, export → compare → campaigns → cli. What a run is comes from its JSON, never from a file's
name.
"""
