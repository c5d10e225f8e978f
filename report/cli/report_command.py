"""`ratelimit-bench report`: builds reports as generate_report.py does."""

from collections.abc import Sequence

from report.cli import generate_command


def main(arguments: Sequence[str] | None = None) -> int:
    return generate_command.main(arguments, program="report")
