"""The flags that the command line and the programs of the report share, from
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
    """The parser of a command with its shared flags.

    `also` has further values of a flag with choices, by the name of the flag."""
    shared = _COMMANDS[command]
    parser = parser_of(program, shared["description"], shared["after"].strip())
    for flag in shared["flags"]:
        name = flag["name"]
        if "value" not in flag:
            parser.add_argument(f"--{name}", action="store_true", help=_help_text(flag))
            continue
        choices = None
        if "choices" in flag:
            choices = (*flag["choices"], *(also or {}).get(name, ()))
        parser.add_argument(
            f"--{name}",
            metavar=flag["value"].strip("<>").upper(),
            choices=choices,
            default=flag.get("defaultValue"),
            help=_help_text(flag),
        )
    return parser


def _help_text(flag: Mapping[str, Any]) -> str:
    default = flag.get("defaultText", flag.get("defaultValue"))
    text: str = f"{flag['help']} (default: {default})" if default else flag["help"]
    # argparse interprets a percent sign, so it must be doubled.
    return text.replace("%", "%%")
