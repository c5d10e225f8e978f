"""Reports over several campaigns: side by side, their history, and an index of them all."""
