"""Runs programs so that they write UTF-8 in any locale, and print one line for each failure."""

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from io import TextIOWrapper

from report.base.errors import INTERRUPTED, WRITE_FAILED, ReportError


def use_utf8() -> None:
    """Makes standard output and error write UTF-8, and escape what cannot be written."""
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


def parser_of(program: str, description: str, epilog: str) -> ArgumentParser:
    return ArgumentParser(
        prog=program,
        description=description,
        epilog=epilog,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _discard_output() -> None:
    """Discards what is still to be written, so that Python does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _written(code: int) -> int:
    """Writes all output and returns the exit code. The work is done even if nobody reads the
    output, as in `… | head`."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    return code


def run_program(program: str, run: Callable[[], int]) -> int:
    """Runs a program that may fail or be interrupted, and returns its exit code. A failure is
    printed on standard error."""
    use_utf8()
    try:
        return _written(run())
    except BrokenPipeError:
        _discard_output()
        return WRITE_FAILED
    except ReportError as error:
        for line in error.lines:
            print(f"{program}: {line}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
