#!/usr/bin/env python3
"""Which lead-in and slice give the ratios of long turns, for `npm run bench:turns -- long`.

    long_turns.py [--json FILE] LEAD-IN,SLICE=CAMPAIGN… [continuous=CAMPAIGN…]

For each target the ratio to the reference in short turns is divided by that in the long turns of
the same rounds. A candidate passes where the interval of 90 % lies within 5 %, for the CPU of the
store within 10 %: two one-sided tests at 5 % (D. J. Schuirmann, 1987). The rule was fixed before
the data. Where no candidate passes, the bound of the longest one is what the budget of errors
takes. Campaigns in continuous windows are compared with those of the longest candidate in the same
way, but unpaired.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from msgspec import Struct  # noqa: E402

from report.analysis.figures import Figure, consumer_cpu, node_kind, store_cpu, throughput  # noqa: E402
from report.analysis.row_pairs import sample_between  # noqa: E402
from report.analysis.summary import Summary, summarize  # noqa: E402
from report.results.load import load_campaign  # noqa: E402
from report.results.model import Measured  # noqa: E402
from report.statistics.change import change_of  # noqa: E402
from report.statistics.ratio import ratio_of  # noqa: E402

CONTINUOUS = "continuous"


def _long_rate(figures: Measured) -> float | None:
    long = figures.record.turns.long if figures.record.turns else None
    if long is None or not sum(long.slice.seconds):
        return None
    return sum(long.slice.answers) / sum(long.slice.seconds)


def _long_cpu(kind_of: Callable[[Measured], str], figures: Measured) -> float | None:
    """CPU of all roles of a kind in µs per request of the long turns."""
    long = figures.record.turns.long if figures.record.turns else None
    kind = kind_of(figures)
    used = [
        role.long_turns_cpu_us for role in figures.record.resources.values() if role.kind == kind
    ]
    if long is None or not long.requests or not used or None in used:
        return None
    return sum(filter(None, used)) / long.requests


class _Compared(Struct, frozen=True):
    figure: Figure
    in_long_turns: Callable[[Measured], float | None]
    bound: float
    """The share within which short and long turns must agree."""

    @property
    def short_to_long(self) -> Figure:
        def read(figures: Measured) -> float | None:
            short = self.figure(figures)
            long = self.in_long_turns(figures)
            return short / long if short and long else None

        return Figure(read, higher_is_better=self.figure.higher_is_better)


FIGURES: Mapping[str, _Compared] = {
    "throughput": _Compared(throughput, _long_rate, 0.05),
    "CPU": _Compared(
        consumer_cpu, lambda run: _long_cpu(lambda resource: node_kind(resource.layer), run), 0.05
    ),
    "store CPU": _Compared(store_cpu, lambda run: _long_cpu(lambda _: "store", run), 0.1),
}


class Agreement(Struct, frozen=True):
    layer: str
    connections: int
    target: str
    figure: str
    candidate: str
    ratio: tuple[float, float] | None
    """The ends of the interval of 90 %. None where too few rounds have the figure."""
    bound: float

    @property
    def passed(self) -> bool:
        return (
            self.ratio is not None
            and 1 - self.bound <= self.ratio[0] <= self.ratio[1] <= 1 + self.bound
        )

    @property
    def text(self) -> str:
        if self.ratio is None:
            return "not known"
        low, high = self.ratio
        return f"{low:.3f}–{high:.3f} {'passed' if self.passed else 'not passed'}"


def _rows(folder: Path) -> tuple[Summary, Sequence[Summary]]:
    """The reference of a campaign, and its other targets."""
    rows = summarize(load_campaign(folder))
    (reference,) = [row for row in rows if row.identity.label == "ioredis@valkey"]
    return reference, [row for row in rows if row is not reference]


def _agreements(candidate: str, folder: Path) -> Iterator[Agreement]:
    reference, targets = _rows(folder)
    for row in targets:
        for name, compared in FIGURES.items():
            change = change_of(sample_between(row, reference, compared.short_to_long).pairs)
            ratio = (change.low, change.high) if change else None
            yield _agreement(row, name, candidate, ratio)


def _continuous_agreements(folder: Path, in_turns: Path) -> Iterator[Agreement]:
    """Ratios in continuous windows against those in short turns of another campaign."""
    reference, targets = _rows(folder)
    turns_reference, turns_rows = _rows(in_turns)
    by_label = {row.identity.label: row for row in turns_rows}
    for row in targets:
        for name, compared in FIGURES.items():
            short = _ratios(by_label[row.identity.label], turns_reference, compared.figure)
            continuous = _ratios(row, reference, compared.figure)
            interval = ratio_of(short, continuous, 0.1).interval if short and continuous else None
            ratio = (interval.low, interval.high) if interval else None
            yield _agreement(row, name, CONTINUOUS, ratio)


def _ratios(new: Summary, base: Summary, figure: Figure) -> list[float]:
    pairs = sample_between(new, base, figure).pairs
    return [new_value / base_value for new_value, base_value in pairs if base_value]


def _agreement(
    row: Summary, figure: str, candidate: str, ratio: tuple[float, float] | None
) -> Agreement:
    identity = row.identity
    bound = FIGURES[figure].bound
    return Agreement(
        identity.layer, identity.connections, identity.label, figure, candidate, ratio, bound
    )


def _print_table(agreements: Sequence[Agreement]) -> None:
    by_row: dict[tuple[str, int, str, str], list[Agreement]] = {}
    for agreement in agreements:
        key = (agreement.layer, agreement.connections, agreement.target, agreement.figure)
        by_row.setdefault(key, []).append(agreement)
    for (layer, connections, target, figure), members in by_row.items():
        print(f"{layer} layer, {connections}: {figure} of {target}, short ÷ long")
        for member in members:
            print(f"  {member.candidate:>12}  {member.text}")


def _shortest(agreements: Sequence[Agreement]) -> dict[str, str | None]:
    """The shortest candidate that passes for all targets and known figures, by layer and
    connections."""
    shortest: dict[str, str | None] = {}
    for load in dict.fromkeys((agreement.layer, agreement.connections) for agreement in agreements):
        members = [
            agreement
            for agreement in agreements
            if (agreement.layer, agreement.connections) == load
        ]
        known = [
            agreement
            for agreement in members
            if agreement.ratio and agreement.candidate != CONTINUOUS
        ]
        candidates = dict.fromkeys(agreement.candidate for agreement in known)
        passing = (
            candidate
            for candidate in candidates
            if all(agreement.passed for agreement in known if agreement.candidate == candidate)
        )
        shortest[f"{load[0]} layer, {load[1]}"] = next(passing, None)
    return shortest


def _document(agreements: Sequence[Agreement]) -> dict[str, Any]:
    return {
        "agreements": [
            {
                "layer": agreement.layer,
                "connections": agreement.connections,
                "target": agreement.target,
                "figure": agreement.figure,
                "candidate": agreement.candidate,
                "low": agreement.ratio[0] if agreement.ratio else None,
                "high": agreement.ratio[1] if agreement.ratio else None,
                "bound": agreement.bound,
                "passed": agreement.passed,
            }
            for agreement in agreements
        ],
        "shortest": _shortest(agreements),
    }


def main(words: list[str]) -> int:
    document_path = None
    if words[:1] == ["--json"]:
        document_path = Path(words[1])
        words = words[2:]

    agreements: list[Agreement] = []
    last = Path()
    for word in words:
        candidate, folder = word.split("=", 1)
        if candidate == CONTINUOUS:
            agreements.extend(_continuous_agreements(Path(folder), last))
        else:
            last = Path(folder)
            agreements.extend(_agreements(candidate, last))

    _print_table(agreements)
    for load, candidate in _shortest(agreements).items():
        print(f"{load}: the shortest that passes is {candidate or 'none of them'}")
    if document_path:
        document_path.write_text(json.dumps(_document(agreements), indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
