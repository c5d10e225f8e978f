"""Operations of stores, as a foreign benchmark program printed them: never ranked with other layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from report.analysis.steadiness import MAX_FOREIGN_CPU_POINTS
from report.results.model import Campaign, Identity, Planned, Printed, Run
from report.statistics.decision import Comparison, compare_samples
from report.statistics.runs import select_median_run
from report.statistics.samples import Place, Sample, sample_of


@dataclass(frozen=True, slots=True)
class OperationFigure:
    """A figure of a printed run that stores are compared by."""

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
class StoreRow:
    """One store under one operation, payload and number of connections."""

    identity: Identity
    runs: tuple[Run, ...]
    missing: tuple[int, ...]
    """Planned run numbers without a file."""
    median: Run | None
    """The run that stands for all, see `select_median_run`."""
    places: frozenset[Place] = frozenset()
    """Round and block of each planned run; empty in plans without blocks."""

    @property
    def store(self) -> str:
        return str(self.identity.store)

    @property
    def figures(self) -> Printed | None:
        return self.median.printed if self.median else None

    @property
    def counted(self) -> tuple[Printed, ...]:
        """Of the runs that count, by run number."""
        return tuple(run.printed for run in self.runs if run.eligible and run.printed)

    def values(self, read: Callable[[Printed], float | None]) -> tuple[float, ...]:
        return tuple(value for each in self.counted if (value := read(each)) is not None)

    def side(self, read: Callable[[Printed], float | None]) -> dict[Place, float]:
        """The same by round and block; in plans without blocks a run is a round."""
        return {
            run.place or (run.run, 1): value
            for run in self.runs
            if run.eligible and run.printed and (value := read(run.printed)) is not None
        }

    def range_of(self, read: Callable[[Printed], float | None]) -> tuple[float, float] | None:
        """Lowest and highest over the runs that count; None below two."""
        values = self.values(read)
        return (min(values), max(values)) if len(values) > 1 else None

    @property
    def foreign_cpu_percent(self) -> float | None:
        values = self.values(lambda printed: printed.foreign_cpu_percent)
        return median(values) if values else None

    @property
    def verdict(self) -> str:
        """The worst of its runs; `failed` where one has no figures."""
        if any(run.printed is None for run in self.runs):
            return "failed"
        worst = [each for each in ("invalid", "suspect") if any(run.verdict == each for run in self.runs)]
        return worst[0] if worst else "valid"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRatio:
    """A store compared with the reference; ratios are store ÷ reference."""

    row: StoreRow
    comparisons: tuple[Comparison, ...]
    """In the order of `COMPARED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCell:
    """Stores that did the same work: operation, payload, connections, duration, caps, runtime and program."""

    identity: Identity
    """Of any row."""
    rows: tuple[StoreRow, ...]
    ratios: tuple[StoreRatio, ...]
    """Empty where the reference has no run that counts, or is alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOperations:
    """All that the runs of the store layer show."""

    reference: str
    cells: tuple[StoreCell, ...]

    @property
    def rows(self) -> tuple[StoreRow, ...]:
        return tuple(row for cell in self.cells for row in cell.rows)

    @property
    def problems(self) -> tuple[Run, ...]:
        """Runs that are suspect, invalid or failed."""
        return tuple(run for row in self.rows for run in row.runs if run.verdict != "valid")


def _row(identity: Identity, runs: Sequence[Run], planned: Planned | None) -> StoreRow:
    ordered = tuple(sorted(runs, key=lambda run: run.run))
    there = {run.run for run in ordered}
    return StoreRow(
        identity=identity,
        runs=ordered,
        missing=tuple(number for number in planned.runs if number not in there) if planned else (),
        median=select_median_run(ordered),
        places=frozenset(planned.places.values()) if planned else frozenset(),
    )


def _work(identity: Identity) -> tuple[object, ...]:
    """What stores must share to be compared."""
    return (
        identity.workload,
        identity.payload_bytes,
        identity.connections,
        identity.duration_s,
        identity.client,
        identity.topology,
        identity.caps,
    )


def _foreign_text(base: StoreRow, new: StoreRow) -> str:
    """Why two rows cannot be told apart because of other programs; empty where they can (rule M25)."""
    ours, theirs = base.foreign_cpu_percent, new.foreign_cpu_percent
    if ours is None or theirs is None or abs(ours - theirs) <= MAX_FOREIGN_CPU_POINTS:
        return ""
    return (
        f"other programs used {ours:.0f} % of one CPU beside {base.store} "
        f"and {theirs:.0f} % beside {new.store}"
    )


def _sample(row: StoreRow, base: StoreRow, read: Callable[[Printed], float | None]) -> Sample:
    rounds = min(len({number for number, _ in each.places}) for each in (row, base))
    return sample_of(row.side(read), base.side(read), rounds, by_block=row.places <= base.places)


def _ratios(rows: Sequence[StoreRow], reference: str) -> tuple[StoreRatio, ...]:
    """Each store with the reference: one family a figure (rule M17)."""
    base = next((row for row in rows if row.store == reference and row.counted), None)
    if base is None:
        return ()
    others = [row for row in rows if row is not base and row.counted]
    found = []
    for figure in COMPARED:
        compared = compare_samples(
            [_sample(row, base, figure.read) for row in others], higher_is_better=figure.higher_is_better
        )
        found.append(
            [
                each.undecided_by(reason) if (reason := _foreign_text(base, row)) else each
                for row, each in zip(others, compared, strict=True)
            ]
        )
    return tuple(
        StoreRatio(row=row, comparisons=tuple(column[index] for column in found))
        for index, row in enumerate(others)
    )


def store_operations(campaign: Campaign) -> StoreOperations | None:
    """The rows and ratios of the store layer; None for a campaign without it.

    The reference is the one that the plan names, else the first store.
    """
    planned = {entry.identity.key: entry for entry in campaign.planned_operations}
    identities = {key: entry.identity for key, entry in planned.items()}
    by_key: dict[str, list[Run]] = {key: [] for key in planned}
    for run in campaign.operations:
        identities.setdefault(run.identity.key, run.identity)
        by_key.setdefault(run.identity.key, []).append(run)
    rows = [
        _row(identities[key], runs, planned.get(key))
        for key, runs in by_key.items()
    ]
    if not rows:
        return None
    plan = campaign.manifest["plan"] if campaign.manifest else {}
    reference = str(plan.get("reference", rows[0].store))
    by_work: dict[tuple[object, ...], list[StoreRow]] = {}
    for row in rows:
        by_work.setdefault(_work(row.identity), []).append(row)
    cells = []
    for members in by_work.values():
        ordered = tuple(sorted(members, key=lambda row: row.store != reference))
        cells.append(
            StoreCell(identity=ordered[0].identity, rows=ordered, ratios=_ratios(ordered, reference))
        )
    return StoreOperations(reference=reference, cells=tuple(cells))
