"""Rows whose figures a load program printed. They are operations of stores, or load programs in the
place of a client, and are never ranked with other layers."""

from collections.abc import Callable, Sequence
from statistics import median

from msgspec import Struct

from report.analysis.limits import Limit, limit_over
from report.analysis.subjects import subject
from report.analysis.summary import Row, Summary, attributable, configurations
from report.results.catalog import STORE_LAYER
from report.results.generated.records import PrintedResult
from report.results.identity import Identity
from report.results.model import Campaign, Run
from report.results.sums import cpu_us_per_request
from report.statistics.comparison import Comparison
from report.statistics.decision import compare_samples
from report.statistics.run_samples import select_run
from report.statistics.samples import Place, Sample, sample_of

Read = Callable[[PrintedResult], float | None]


def rate(printed: PrintedResult) -> float:
    return printed.operations.per_second


def latency(name: str) -> Read:
    """A latency in ms, by its name in the result."""
    return lambda printed: getattr(printed.latency, name)


def bytes_per_key(printed: PrintedResult) -> float | None:
    return printed.memory.bytes_per_key if printed.memory else None


def store_cpu(printed: PrintedResult) -> float | None:
    """The CPU of the store in µs per operation."""
    return printed.store_cpu_us_per_operation


def service_cpu(printed: PrintedResult) -> float | None:
    """The CPU of the service in µs per operation. None without a service."""
    return cpu_us_per_request(printed.resources).get("service")


def worst_verdict(runs: Sequence[Run], figures: Callable[[Run], object]) -> str:
    """The worst verdict of the runs, which is `failed` if one of them has no figures."""
    if any(figures(run) is None for run in runs):
        return "failed"

    verdicts = {run.verdict for run in runs}
    if "invalid" in verdicts:
        return "invalid"
    return "suspect" if "suspect" in verdicts else "valid"


class PrintedRow(Row, frozen=True, kw_only=True):
    """A configuration whose figures a load program printed."""

    @property
    def store(self) -> str:
        return str(self.identity.store)

    @property
    def selected(self) -> PrintedResult | None:
        """The result of the selected run, see `select_run`. None if no run counts."""
        run = select_run(self.runs)
        return run.printed if run else None

    @property
    def counted(self) -> tuple[PrintedResult, ...]:
        return tuple(run.printed for run in self.runs if run.eligible and run.printed)

    def values(self, read: Read) -> tuple[float, ...]:
        return tuple(value for result in self.counted if (value := read(result)) is not None)

    def side(self, read: Read) -> dict[Place, float]:
        """The values by round and group. In consecutive order each run is a round."""
        return {
            run.place or (run.run, 1): value
            for run in self.runs
            if run.eligible and run.printed and (value := read(run.printed)) is not None
        }

    def sample(self, base: "PrintedRow", read: Read) -> Sample:
        rounds = min(self.planned_rounds, base.planned_rounds)
        return sample_of(
            self.side(read), base.side(read), rounds, by_group=self.places <= base.places
        )

    def median_of(self, read: Read) -> float | None:
        """The median of a figure over the runs that count (rule M28). None if none of them has
        it."""
        values = self.values(read)
        return median(values) if values else None

    def range_of(self, read: Read) -> tuple[float, float] | None:
        values = self.values(read)
        return (min(values), max(values)) if len(values) > 1 else None

    @property
    def limit(self) -> Limit | None:
        """The limit of the runs that count, with the text of the selected run."""
        selected = self.selected
        other_results = [printed for printed in self.counted if printed is not selected]
        results = [selected, *other_results] if selected else other_results
        return limit_over([printed.limited_by for printed in results])

    @property
    def verdict(self) -> str:
        return worst_verdict(self.runs, lambda run: run.printed)


def printed_rows(campaign: Campaign, is_selected: Callable[[Identity], bool]) -> list[PrintedRow]:
    """The printed rows with a selected identity. Planned ones are first, in the order of the
    plan."""
    planned = (plan for plan in campaign.planned if plan.identity.printed)
    rows = configurations(planned, (run for run in campaign.counted if run.identity.printed))
    return [
        PrintedRow(
            identity=identity,
            runs=runs,
            missing=missing,
            places=frozenset(plan.places.values()) if plan else frozenset(),
        )
        for identity, plan, runs, missing in rows
        if is_selected(identity)
    ]


class LoadProgramControl(Struct, frozen=True):
    """A row of a load program, and the row of the client that it replaces."""

    row: PrintedRow
    client: Summary | None
    """The client under the same load. None if it was not measured."""

    @property
    def program(self) -> str:
        return str(self.row.identity.program)

    @property
    def client_label(self) -> str:
        return self.row.identity.label.replace(f"+{self.program}", "")


def _target(identity: Identity) -> str:
    options = tuple(option for option in identity.options if option != identity.program)
    return subject(identity, label="", options=options, program=None)


def load_program_controls(
    campaign: Campaign, summaries: Sequence[Summary]
) -> tuple[LoadProgramControl, ...]:
    by_target = {_target(summary.identity): summary for summary in summaries}
    rows = printed_rows(campaign, lambda identity: identity.program is not None)
    return tuple(LoadProgramControl(row, by_target.get(_target(row.identity))) for row in rows)


#: The figures by which stores are compared, each as its name in files, whether higher values are
#: better, and how it is read.
COMPARED: tuple[tuple[str, bool, Read], ...] = (
    ("operations_per_second", True, rate),
    ("store_cpu_us_per_operation", False, store_cpu),
)


class StoreCell(Struct, frozen=True):
    """Stores that did the same work. Their rows share operation, payload, connections, duration,
    caps, runtime and program."""

    rows: tuple[PrintedRow, ...]
    ratios: tuple[tuple[PrintedRow, tuple[Comparison, ...]], ...]
    """The comparisons of each store with the reference in the order of `COMPARED`. Empty if the
    reference has no run that counts, or is alone."""


class StoreOperations(Struct, frozen=True):
    reference: str
    cells: tuple[StoreCell, ...]

    @property
    def rows(self) -> tuple[PrintedRow, ...]:
        return tuple(row for cell in self.cells for row in cell.rows)


def _ratios(
    rows: Sequence[PrintedRow], reference: str, margin: float
) -> tuple[tuple[PrintedRow, tuple[Comparison, ...]], ...]:
    """The comparisons of each store with the reference. Those by one figure are a family (rule
    M17)."""
    base = next((row for row in rows if row.store == reference and row.counted), None)
    if base is None:
        return ()

    compared_rows = [row for row in rows if row is not base and row.counted]

    by_figure: list[list[Comparison]] = []
    for _, higher_is_better, read in COMPARED:
        samples = [row.sample(base, read) for row in compared_rows]
        comparisons = compare_samples(samples, margin, higher_is_better)
        by_figure.append(
            [
                attributable(comparison, base, row)
                for row, comparison in zip(compared_rows, comparisons, strict=True)
            ]
        )
    return tuple(zip(compared_rows, zip(*by_figure, strict=True), strict=True))


def store_operations(campaign: Campaign) -> StoreOperations | None:
    """The operations of stores, or None without them. The reference is the store that the plan
    names, else the first one."""
    rows = printed_rows(campaign, lambda identity: identity.layer == STORE_LAYER)
    if not rows:
        return None

    reference = str((campaign.manifest or {}).get("plan", {}).get("reference", rows[0].store))
    by_work: dict[str, list[PrintedRow]] = {}
    for row in rows:
        work = subject(row.identity, label="", store=None, store_version=None, external_store=False)
        by_work.setdefault(work, []).append(row)

    cells: list[StoreCell] = []
    for rows_of_work in by_work.values():
        reference_first = sorted(rows_of_work, key=lambda row: row.store != reference)
        ratios = _ratios(reference_first, reference, campaign.margin)
        cells.append(StoreCell(tuple(reference_first), ratios))
    return StoreOperations(reference, tuple(cells))
