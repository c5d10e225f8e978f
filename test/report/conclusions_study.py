"""What the whole procedure concludes of campaigns whose truth is known, on hosts whose speed changes.

`npm run bench:conclusions` counts with many campaigns, the tests with few: the same studies.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from campaign_writer import manifest
from report.analysis.cells import cells
from report.analysis.summary import Summary, summarize
from report.compare.comparability import KINDS
from report.compare.matching import compare_sides
from report.compare.metrics import METRICS
from report.compare.selection import Selection
from report.results.model import Campaign, Planned, Run
from report.statistics.sequential import LookSchedule
from simulated_campaigns import campaign, plan, rows, throughputs

REFERENCE, COPY = "iovalkey", "iovalkey+copy"
OTHERS = ("valkey-glide", "ioredis@valkey", "node-redis@valkey")
MORE = (*OTHERS, "iovalkey+autopipelining", "ioredis@valkey+autopipelining")
LOOKS = LookSchedule(looks=(5, 7, 10, 14, 20))


@dataclass
class Counted:
    """By what was counted: the share of each campaign; comparisons of one campaign depend on each other."""

    shares: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, what: str, happened: Sequence[bool]) -> None:
        """Of one campaign; nothing where nothing was there to count."""
        if happened:
            self.shares[what].append(sum(happened) / len(happened))

    def share(self, what: str) -> float:
        return fmean(self.shares[what])

    def at_most(self, what: str, share: float) -> bool:
        """Within three standard errors."""
        return self.share(what) <= share + 3 * self._error(what, share)

    def at_least(self, what: str, share: float) -> bool:
        """Within three standard errors."""
        return self.share(what) >= share - 3 * self._error(what, share)

    def _error(self, what: str, share: float) -> float:
        """Standard error of the mean over campaigns: by the asked share where each counts once."""
        found = self.shares[what]
        once = math.sqrt(share * (1 - share))
        deviation = once if {*found} <= {0, 1} else stdev(found)
        return deviation / math.sqrt(len(found))


def _judge(summaries: Sequence[Summary], truth: Mapping[str, float], counted: Counted) -> None:
    """One campaign: what its ranking claims, against the truth."""
    (cell,) = cells(summaries)
    (ranking,) = cell.rankings
    wrong_difference = wrong_equality = False
    covered, planted, above = [], [], []
    for pair in ranking.pairs:
        true = truth.get(pair.new.identity.label, 1.0) / truth.get(pair.base.identity.label, 1.0)
        found = pair.comparison
        if found.interval:
            covered.append(found.interval.low <= true <= found.interval.high)
        if true == 1:
            wrong_difference |= found.shown
        elif abs(true - 1) >= 0.05:
            planted.append(found.shown and (found.status == "better") == (true > 1))
        if abs(true - 1) > 0.02:
            wrong_equality |= found.status == "no difference"
        if found.ratio:
            above.append(found.ratio > true)
    counted.add("covered", covered)
    counted.add("5 % found", planted)
    counted.add("above the truth", above)
    counted.add("false flag", [wrong_difference])
    counted.add("wrong equality", [wrong_equality])
    labels = [row.identity.label for row in ranking.summaries]
    best = max(truth.get(label, 1.0) for label in labels)
    fastest = [label for label in labels if truth.get(label, 1.0) == best]
    winner = ranking.winner
    counted.add("wrong winner", [winner is not None and [winner.identity.label] != fastest])
    if ranking.resolution:
        counted.add("copy told apart", [ranking.resolution.told_apart])


def rankings(
    host: str,
    campaigns: int,
    rounds: int = 10,
    cv: float = 0.02,
    truth: Mapping[str, float] | None = None,
    others: Sequence[str] = OTHERS,
    seed: int = 1,
) -> Counted:
    """Campaigns of a fixed number of rounds, with a copy of the reference."""
    rng, counted = np.random.default_rng(seed), Counted()
    for _ in range(campaigns):
        _judge(rows(rng, host, [*others, COPY], rounds, cv, truth or {}), truth or {}, counted)
    return counted


def auto(
    host: str,
    campaigns: int,
    cv: float = 0.02,
    truth: Mapping[str, float] | None = None,
    others: Sequence[str] = OTHERS,
    seed: int = 1,
) -> Counted:
    """Campaigns of `--runs auto`."""
    rng, counted = np.random.default_rng(seed), Counted()
    for _ in range(campaigns):
        summaries = stopped_rows(rows(rng, host, [*others, COPY], LOOKS.looks[-1], cv, truth or {}))
        _judge(summaries, truth or {}, counted)
        made = sum(len(row.runs) for row in summaries)
        counted.shares["runs"].append(made / (LOOKS.looks[-1] * len(summaries)))
    return counted


def stopped_rows(summaries: Sequence[Summary]) -> tuple[Summary, ...]:
    """Rows as they are once the campaign has stopped each: with the runs that it asked for."""
    looked = [replace(row, look_schedule=LOOKS, last_look=LOOKS.looks[-1]) for row in summaries]
    (cell,) = cells(looked)
    (ranking,) = cell.rankings
    assert ranking.family is not None
    ends = {row.id: stop[0] for row, stop in zip(ranking.compared, ranking.family.stops, strict=True) if stop}
    reference = next(row for row in looked if row.reference)
    return tuple(_upto(row, ends.get(row.id, ends[reference.id])) for row in looked)


def _upto(row: Summary, rounds: int) -> Summary:
    return replace(
        row,
        runs=tuple(run for run in row.runs if run.place and run.place[0] <= rounds),
        places=frozenset(place for place in row.places if place[0] <= rounds),
    )


def gate(
    host: str,
    campaigns: int,
    rounds: int = 10,
    loads: int = 20,
    cv: float = 0.02,
    truth: Mapping[str, float] | None = None,
    seed: int = 1,
) -> Counted:
    """`compare TARGET TARGET` in one campaign of so many loads: its exit code."""
    rng, counted = np.random.default_rng(seed), Counted()
    names = [f"load{number}" for number in range(loads)]
    for _ in range(campaigns):
        found = [_load(rng, host, traffic, rounds, cv, truth or {}) for traffic in names]
        every = _campaign(
            tuple(entry for each in found for entry in each.planned),
            tuple(run for each in found for run in each.runs),
        )
        base, new = (_side(every, Path("simulated"), label) for label in (REFERENCE, OTHERS[0]))
        outcome = compare_sides(base, new, METRICS["throughput"], 0.02, frozenset(KINDS))
        counted.add("exit 6", [outcome.verdict == "regression"])
        counted.add("no difference", [row.comparison.status == "no difference" for row in outcome.rows])
    return counted


def _campaign(planned: tuple[Planned, ...], runs: tuple[Run, ...]) -> Campaign:
    return Campaign(name="simulated", manifest=manifest([]), planned=planned, runs=runs, ignored=())


def _side(found: Campaign, folder: Path, label: str | None) -> Selection:
    every = summarize(found)
    own = tuple(row for row in every if label in (None, row.identity.label))
    return Selection(found, folder, label, own, every)


def between(
    host: str,
    campaigns: int,
    rounds: int = 8,
    cv: float = 0.02,
    truth: Mapping[str, float] | None = None,
    seed: int = 1,
) -> Counted:
    """Twice the same targets in two campaigns, the second with its own truth: `compare DIR DIR`.

    The host was in another state at each, and half as fast at the second.
    """
    rng, counted = np.random.default_rng(seed), Counted()
    now = {label: (truth or {}).get(label, 1.0) for label in OTHERS}
    for _ in range(campaigns):
        sides = []
        for folder, level, own in (("then", 1.0, {}), ("now", 0.5, now)):
            slots = plan(rng, REFERENCE, OTHERS, rounds)
            values = [level * value for value in throughputs(rng, slots, host, cv, own)]
            found = campaign(slots, values, REFERENCE)
            sides.append(_side(_campaign(found.planned, found.runs), Path(folder), None))
        base, new = sides
        outcome = compare_sides(base, new, METRICS["throughput"], 0.02, frozenset(KINDS))
        true = [now[row.new.identity.label] for row in outcome.rows]
        rows = [row.comparison for row in outcome.rows]
        intervals = [(row.interval, each) for row, each in zip(rows, true, strict=True) if row.interval]
        counted.add("covered", [found.low <= each <= found.high for found, each in intervals])
        counted.add("false flag", [any(row.shown for row, each in zip(rows, true, strict=True) if each == 1)])
        counted.add("10 % found", [row.shown for row, each in zip(rows, true, strict=True) if each != 1])
    return counted


def _load(
    rng: np.random.Generator, host: str, traffic: str, rounds: int, cv: float, truth: Mapping[str, float]
) -> Campaign:
    slots = plan(rng, REFERENCE, OTHERS[:1], rounds)
    return campaign(slots, throughputs(rng, slots, host, cv, truth), REFERENCE, traffic)
