"""Flags that the command line and the programs of the report share:
`src/contract/report-commands.ts`."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from report.base.contract import generated
from report.base.terminal import parser_of

_COMMANDS: Mapping[str, Any] = generated("report-commands")


def command_parser(
    program: str, command: str, also: Mapping[str, tuple[str, ...]] | None = None
) -> ArgumentParser:
    """The parser of a command with its shared flags. `also` has values that a flag takes beside its
    choices, by the name of the flag."""
    shared = _COMMANDS[command]
    parser = parser_of(program, shared["description"], shared["after"].strip())
    for flag in shared["flags"]:
        name, default = flag["name"], flag.get("defaultValue")
        shown = flag.get("defaultText", default)
        meaning = f"{flag['help']} (default: {shown})" if shown else flag["help"]
        # argparse replaces what follows a percent sign.
        told = meaning.replace("%", "%%")
        if "value" not in flag:
            parser.add_argument(f"--{name}", action="store_true", help=told)
            continue
        choices = (*flag["choices"], *(also or {}).get(name, ())) if "choices" in flag else None
        metavar = flag["value"].strip("<>").upper()
        parser.add_argument(
            f"--{name}", metavar=metavar, choices=choices, default=default, help=told
        )
    return parser
