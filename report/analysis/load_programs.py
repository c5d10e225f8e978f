"""Controls whose calls a load program makes in the place of Node: the service without our client."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.cells import load_key
from report.analysis.printed_rows import PrintedRow, printed_rows
from report.analysis.summary import Summary
from report.results.model import Campaign, Identity


@dataclass(frozen=True, slots=True)
class LoadProgramControl:
    """One row of a load program, beside the row of the client that it replaces."""

    row: PrintedRow
    client: Summary | None
    """The client under the same load; None where it was not measured."""

    @property
    def program(self) -> str:
        return str(self.row.identity.program)

    @property
    def client_label(self) -> str:
        return self.row.identity.label.replace(f"+{self.program}", "")


def _target(identity: Identity) -> tuple[object, ...]:
    return (
        identity.client,
        identity.store_program,
        identity.topology,
        identity.external_store,
        tuple(option for option in identity.options if option != identity.program),
        identity.caps,
        *load_key(identity),
    )


def load_program_controls(campaign: Campaign, summaries: Sequence[Summary]) -> tuple[LoadProgramControl, ...]:
    by_target = {_target(summary.identity): summary for summary in summaries}
    rows = printed_rows(campaign, lambda identity: identity.program is not None)
    return tuple(LoadProgramControl(row, by_target.get(_target(row.identity))) for row in rows)
