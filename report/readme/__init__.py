"""What README.md and the page of the original's matrix hold. A package does not contain it."""
