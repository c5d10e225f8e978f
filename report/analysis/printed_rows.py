"""Rows whose figures a foreign program printed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from report.results.model import Campaign, Identity, Planned, Printed, Run
from report.statistics.runs import select_median_run
from report.statistics.samples import Place, Sample, sample_of


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
    def figures(self) -> Printed | None:
        return self.median.printed if self.median else None

    @property
    def counted(self) -> tuple[Printed, ...]:
        return tuple(run.printed for run in self.runs if run.eligible and run.printed)

    def values(self, read: Callable[[Printed], float | None]) -> tuple[float, ...]:
        return tuple(value for each in self.counted if (value := read(each)) is not None)

    def side(self, read: Callable[[Printed], float | None]) -> dict[Place, float]:
        """The same by round and group; in consecutive order a run is a round."""
        return {
            run.place or (run.run, 1): value
            for run in self.runs
            if run.eligible and run.printed and (value := read(run.printed)) is not None
        }

    def sample(self, base: "PrintedRow", read: Callable[[Printed], float | None]) -> Sample:
        rounds = min(len({number for number, _ in each.places}) for each in (self, base))
        return sample_of(self.side(read), base.side(read), rounds, by_group=self.places <= base.places)

    def range_of(self, read: Callable[[Printed], float | None]) -> tuple[float, float] | None:
        values = self.values(read)
        return (min(values), max(values)) if len(values) > 1 else None

    @property
    def by_turns(self) -> bool:
        return False

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
