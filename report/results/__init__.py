"""The results of a campaign: loaded, validated, and as the report's own types."""
