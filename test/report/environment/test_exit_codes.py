"""The dispatcher works without packages, so that it states the exit codes itself."""

from report.base import errors
from report.environment import installation


def test_exit_codes_are_those_of_the_contract() -> None:
    assert installation.USAGE == errors.USAGE
    assert installation.EXIT_UNFIT == errors.ENVIRONMENT
