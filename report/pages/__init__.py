"""The published site: the report of each campaign, and the pages over all of them."""
