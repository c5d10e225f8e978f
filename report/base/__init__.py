"""What every part of the report uses: errors, files, numbers and text for people."""
