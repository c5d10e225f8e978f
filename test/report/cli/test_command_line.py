"""Flags that the TypeScript lists, as the Python programs take them."""

from collections.abc import Sequence

import pytest

from report.base.contract import generated
from report.cli.command_line import command_parser
from report.compare.comparison_metrics import METRICS
from report.compare.comparison_tables import FORMATS
from report.outputs import campaign_files


def choices_of(command: str, name: str) -> Sequence[str]:
    (choices,) = (
        flag["choices"]
        for flag in generated("report-commands")[command]["flags"]
        if flag["name"] == name
    )
    return list(choices)


def test_every_choice_of_a_flag_is_carried_out() -> None:
    assert choices_of("compare", "metric") == list(METRICS)
    assert choices_of("compare", "format") == list(FORMATS)
    assert choices_of("report", "output-format") == list(campaign_files.FORMATS)


@pytest.mark.parametrize("command", generated("report-commands"))
def test_a_program_takes_every_flag_with_its_default_and_its_help(command: str) -> None:
    parser = command_parser("it", command)
    flags = generated("report-commands")[command]["flags"]
    for flag in flags:
        words = [
            f"--{flag['name']}",
            *([(flag.get("choices") or ["x"])[-1]] if "value" in flag else []),
        ]
        name = flag["name"].replace("-", "_")
        assert getattr(parser.parse_args(words), name) in (True, words[-1])
        assert getattr(parser.parse_args([]), name) in (False, flag.get("defaultValue"))
        assert flag["help"].split()[0] in parser.format_help()


def test_what_a_flag_takes_beside_its_choices_is_taken_by_this_program_alone() -> None:
    parser = command_parser("it", "report", also={"output-format": ("both",)})
    assert parser.parse_args(["--output-format", "both"]).output_format == "both"
    with pytest.raises(SystemExit):
        command_parser("it", "report").parse_args(["--output-format", "both"])
