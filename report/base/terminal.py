"""How the programs write and end: UTF-8 in any locale, one line per failure, and its exit code."""

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from io import TextIOWrapper

from report.base.errors import INTERRUPTED, WRITE_FAILED, ReportError


def use_utf8() -> None:
    """Makes standard output and error write UTF-8; what cannot be written is escaped instead of
    raising."""
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
    """What is left to write goes nowhere, so that Python does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _written(code: int) -> int:
    """The code, whether or not anybody reads the output: as in `… | head`, the work is done."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    return code


def run_program(program: str, run: Callable[[], int]) -> int:
    """Runs a program that may fail or be interrupted; a failure is printed on standard error."""
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
