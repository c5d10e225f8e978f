"""Expected failures, with the exit codes that all programs of the project share."""

from collections.abc import Sequence

from report.base.contract import CONSTANTS

_CODES: dict[str, int] = CONSTANTS["exit_codes"]
USAGE = _CODES["usage"]
ENVIRONMENT = _CODES["environment"]
#: A campaign ends with the same code if configurations failed.
WRITE_FAILED = _CODES["configurationFailed"]
REGRESSION = _CODES["regression"]
NOT_DECIDED = _CODES["notDecided"]
INTERRUPTED = _CODES["interrupted"]


class ReportError(Exception):
    """Ends the program with `exit_code`, after printing `lines` on standard error without a
    stack."""

    def __init__(self, lines: str | Sequence[str], exit_code: int) -> None:
        self.lines = (lines,) if isinstance(lines, str) else tuple(lines)
        self.exit_code = exit_code
        super().__init__("; ".join(self.lines))


class FieldError(Exception):
    """A document that breaks the contract in a field, which is a JSON path such as
    `$.latency.p50`."""

    def __init__(self, field: str, text: str) -> None:
        self.field = field
        self.text = text
        super().__init__(f"{field} {text}")


def one_line(text: object, limit: int = 200) -> str:
    """The text on one line, without control characters and cut to `limit` characters, so that a
    terminal can show it."""
    plain = "".join(character if character.isprintable() else " " for character in str(text))
    return plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
