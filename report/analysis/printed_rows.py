"""Rows whose figures a foreign program printed: operations of stores, and load programs in the place of a
client. They are never ranked with other layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from report.analysis.cells import load_key
from report.analysis.foreign_cpu import attributable
from report.analysis.summary import Summary
from report.results.model import STORE_LAYER, Campaign, Identity, Planned, Run, cpu_us_per_request
from report.results.records import PrintedResult
from report.statistics.decision import Comparison, compare_samples
from report.statistics.runs import select_median_run
from report.statistics.samples import Place, Sample, sample_of

Read = Callable[[PrintedResult], float | None]


def bytes_per_key(printed: PrintedResult) -> float | None:
    return printed.memory.bytes_per_key if printed.memory else None


def service_cpu(printed: PrintedResult) -> float | None:
    """µs per operation; None without a service."""
    return cpu_us_per_request(printed.resources).get("service")


def worst_verdict(runs: Sequence[Run], figures: Callable[[Run], object]) -> str:
    """The worst of them; `failed` where one has no figures."""
    if any(figures(run) is None for run in runs):
        return "failed"
    worst = [each for each in ("invalid", "suspect") if any(run.verdict == each for run in runs)]
    return worst[0] if worst else "valid"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRow:
    identity: Identity
    runs: tuple[Run, ...]
    missing: tuple[int, ...]
    """Planned run numbers without a file."""
    median: Run | None
    """The run that stands for all, see `select_median_run`."""
    places: frozenset[Place] = frozenset()
    """Round and group of each planned run; empty in consecutive order."""

    @property
    def store(self) -> str:
        return str(self.identity.store)

    @property
    def figures(self) -> PrintedResult | None:
        return self.median.printed if self.median else None

    @property
    def counted(self) -> tuple[PrintedResult, ...]:
        return tuple(run.printed for run in self.runs if run.eligible and run.printed)

    def values(self, read: Read) -> tuple[float, ...]:
        return tuple(value for each in self.counted if (value := read(each)) is not None)

    def side(self, read: Read) -> dict[Place, float]:
        """The same by round and group; in consecutive order a run is a round."""
        return {
            run.place or (run.run, 1): value
            for run in self.runs
            if run.eligible and run.printed and (value := read(run.printed)) is not None
        }

    def sample(self, base: "PrintedRow", read: Read) -> Sample:
        rounds = min(len({number for number, _ in each.places}) for each in (self, base))
        return sample_of(self.side(read), base.side(read), rounds, by_group=self.places <= base.places)

    def range_of(self, read: Read) -> tuple[float, float] | None:
        values = self.values(read)
        return (min(values), max(values)) if len(values) > 1 else None

    @property
    def by_turns(self) -> bool:
        return False

    @property
    def foreign_cpu_percent(self) -> float | None:
        values = self.values(lambda printed: getattr(printed.host_load, "foreign_cpu_percent", None))
        return median(values) if values else None

    @property
    def verdict(self) -> str:
        return worst_verdict(self.runs, lambda run: run.printed)


def _row(identity: Identity, runs: Sequence[Run], planned: Planned | None) -> PrintedRow:
    ordered = tuple(sorted(runs, key=lambda run: run.run))
    there = {run.run for run in ordered}
    return PrintedRow(
        identity=identity,
        runs=ordered,
        missing=tuple(number for number in planned.runs if number not in there) if planned else (),
        median=select_median_run(ordered),
        places=frozenset(planned.places.values()) if planned else frozenset(),
    )


def printed_rows(campaign: Campaign, wanted: Callable[[Identity], bool]) -> list[PrintedRow]:
    """Those of the campaign that are wanted, planned ones first, in the order of the plan."""
    planned = {entry.identity.key: entry for entry in campaign.planned_operations if wanted(entry.identity)}
    identities = {key: entry.identity for key, entry in planned.items()}
    by_key: dict[str, list[Run]] = {key: [] for key in planned}
    for run in campaign.operations:
        if wanted(run.identity):
            identities.setdefault(run.identity.key, run.identity)
            by_key.setdefault(run.identity.key, []).append(run)
    return [_row(identities[key], runs, planned.get(key)) for key, runs in by_key.items()]


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


#: What stores are compared by: name in files, whether more is better, and the figure.
COMPARED: tuple[tuple[str, bool, Read], ...] = (
    ("operations_per_second", True, lambda printed: printed.operations.per_second),
    ("store_cpu_us_per_operation", False, lambda printed: printed.store_cpu_us_per_operation),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCell:
    """Stores that did the same work: operation, payload, connections, duration, caps, runtime and program."""

    identity: Identity
    """The identity of any row."""
    rows: tuple[PrintedRow, ...]
    ratios: tuple[tuple[PrintedRow, tuple[Comparison, ...]], ...]
    """Each store ÷ the reference, in the order of `COMPARED`; empty where the reference has no run that
    counts, or is alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOperations:
    reference: str
    cells: tuple[StoreCell, ...]

    @property
    def rows(self) -> tuple[PrintedRow, ...]:
        return tuple(row for cell in self.cells for row in cell.rows)


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


def _ratios(
    rows: Sequence[PrintedRow], reference: str
) -> tuple[tuple[PrintedRow, tuple[Comparison, ...]], ...]:
    """Each store with the reference: one family a figure (rule M17)."""
    base = next((row for row in rows if row.store == reference and row.counted), None)
    if base is None:
        return ()
    others = [row for row in rows if row is not base and row.counted]
    found = []
    for _, higher_is_better, read in COMPARED:
        compared = compare_samples(
            [row.sample(base, read) for row in others], higher_is_better=higher_is_better
        )
        found.append([attributable(each, base, row) for row, each in zip(others, compared, strict=True)])
    return tuple(zip(others, zip(*found, strict=True), strict=True))


def store_operations(campaign: Campaign) -> StoreOperations | None:
    """The reference is the one that the plan names, else the first store."""
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
