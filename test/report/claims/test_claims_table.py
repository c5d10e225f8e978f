"""The rows of claims and questions."""

import pytest

from report.claims.claims_table import portable


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (
            "--program redis-cell=/var/lib/a/libredis_cell.so",
            "--program redis-cell=…/libredis_cell.so",
        ),
        ("--program node~22=/a/22/bin/node,node~24=/a/24/bin/node", None),
        (
            "./scripts/run-all.sh --output results/claims/x",
            "./scripts/run-all.sh --output results/claims/x",
        ),
        (
            "STORE_URL='redis://127.0.0.1:6379/0/1' run",
            "STORE_URL='redis://127.0.0.1:6379/0/1' run",
        ),
    ],
)
def test_a_command_names_no_folder_of_the_machine_that_measured(
    command: str, printed: str | None
) -> None:
    assert portable(command) == (printed or "--program node~22=…/node,node~24=…/node")
