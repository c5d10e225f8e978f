"""The dispatcher works without packages, so that it states the exit codes itself."""

from report.base import errors
from report.cli import dispatch


def test_exit_codes_are_those_of_the_contract() -> None:
    assert dispatch.USAGE == errors.USAGE
    assert dispatch.EXIT_UNFIT == errors.ENVIRONMENT
