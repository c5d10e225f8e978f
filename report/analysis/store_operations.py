"""Operations of stores, as a foreign benchmark program printed them: never ranked with other layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from report.analysis.foreign_cpu import attributable
from report.analysis.printed_rows import PrintedRow, printed_rows
from report.results.model import STORE_LAYER, Campaign, Identity, Printed, Run
from report.statistics.decision import Comparison, compare_samples


@dataclass(frozen=True, slots=True)
class OperationFigure:
    name: str
    """In rows of CSV and JSON."""
    higher_is_better: bool
    read: Callable[[Printed], float | None]


#: What the ratio table compares: throughput, and the CPU time of the store for one operation.
COMPARED = (
    OperationFigure("operations_per_second", True, lambda printed: printed.operations_per_second),
    OperationFigure("store_cpu_us_per_operation", False, lambda printed: printed.store_cpu_us_per_operation),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRatio:
    row: PrintedRow
    comparisons: tuple[Comparison, ...]
    """In the order of `COMPARED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCell:
    """Stores that did the same work: operation, payload, connections, duration, caps, runtime and program."""

    identity: Identity
    """The identity of any row."""
    rows: tuple[PrintedRow, ...]
    ratios: tuple[StoreRatio, ...]
    """Empty where the reference has no run that counts, or is alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOperations:
    reference: str
    cells: tuple[StoreCell, ...]

    @property
    def rows(self) -> tuple[PrintedRow, ...]:
        return tuple(row for cell in self.cells for row in cell.rows)

    @property
    def problems(self) -> tuple[Run, ...]:
        return tuple(run for row in self.rows for run in row.runs if run.verdict != "valid")


def _work(identity: Identity) -> tuple[object, ...]:
    return (
        identity.workload,
        identity.payload_bytes,
        identity.connections,
        identity.duration_s,
        identity.client,
        identity.topology,
        identity.caps,
    )


def _ratios(rows: Sequence[PrintedRow], reference: str) -> tuple[StoreRatio, ...]:
    """Each store with the reference: one family a figure (rule M17)."""
    base = next((row for row in rows if row.store == reference and row.counted), None)
    if base is None:
        return ()
    others = [row for row in rows if row is not base and row.counted]
    found = []
    for figure in COMPARED:
        compared = compare_samples(
            [row.sample(base, figure.read) for row in others], higher_is_better=figure.higher_is_better
        )
        found.append([attributable(each, base, row) for row, each in zip(others, compared, strict=True)])
    return tuple(
        StoreRatio(row=row, comparisons=tuple(column[index] for column in found))
        for index, row in enumerate(others)
    )


def store_operations(campaign: Campaign) -> StoreOperations | None:
    """The rows and ratios of the store layer; None for a campaign without it.

    The reference is the one that the plan names, else the first store."""
    rows = printed_rows(campaign, lambda identity: identity.layer == STORE_LAYER)
    if not rows:
        return None
    plan = campaign.manifest["plan"] if campaign.manifest else {}
    reference = str(plan.get("reference", rows[0].store))
    by_work: dict[tuple[object, ...], list[PrintedRow]] = {}
    for row in rows:
        by_work.setdefault(_work(row.identity), []).append(row)
    cells = []
    for members in by_work.values():
        ordered = tuple(sorted(members, key=lambda row: row.store != reference))
        cells.append(
            StoreCell(identity=ordered[0].identity, rows=ordered, ratios=_ratios(ordered, reference))
        )
    return StoreOperations(reference=reference, cells=tuple(cells))
