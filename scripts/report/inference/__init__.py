"""What may be concluded from runs (rules M16 and M17). `report.stats` is the door: import from there."""
