"""What the report says, part by part: tables and sentences, independent of the format."""
